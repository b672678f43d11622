import { unavailable } from '../../platform/errors.ts'
import { measuresOf, readQueues } from '../measures.ts'
import type { Handler } from '../operation.ts'
import { ESPERA_DE_COLA, pageOf } from '../serviceRows.ts'

/** SQLSTATE of a missing table: the queue's tables exist only after the first worker has started. */
const SIN_TABLA = '42P01'
const SIN_COLAS =
  'El servicio no tiene colas, porque ningún proceso de trabajos ha arrancado. Arranque uno con «npm run worker».'

export const obtenerServicio: Handler<'obtenerServicio'> = async (_solicitud, { db, reloj, salud, ajustes }) => {
  // Uses the database role of the workers, because other roles may not read the queue's tables.
  const deps = { db: db.como('guias_trabajos'), reloj, respaldo: ajustes.respaldo }
  const suyas = measuresOf(deps)
  const [{ ok: listo }, enCola, valores] = await Promise.all([
    salud(),
    readQueues(deps),
    Promise.all(suyas.map(({ leer }) => leer(deps))),
  ]).catch((error: { code?: string }) => {
    throw error.code === SIN_TABLA ? unavailable(SIN_COLAS, error) : error
  })
  const medidas = suyas.map(({ nombre, titulo, unidad, limite, pagina }, i) => {
    const valor = Math.round(valores[i]!)
    const bien = limite === undefined || valor <= limite
    return {
      nombre,
      titulo,
      unidad,
      valor,
      limite: limite ?? null,
      bien,
      pagina: pagina === undefined ? null : pageOf(pagina),
    }
  })
  const colas = enCola.map(({ cola, cuantos, segundos }) => ({
    cola,
    trabajos: cuantos,
    espera_segundos: Math.round(segundos),
    bien: segundos <= ESPERA_DE_COLA,
  }))
  const bien = listo && [...medidas, ...colas].every((una) => una.bien)
  return { status: 200, body: { leido_en: reloj().toISOString(), bien, listo, medidas, colas } }
}
