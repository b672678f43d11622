import { unavailable } from '../../platform/errors.ts'
import { measuresOf, readQueues } from '../measures.ts'
import type { Handler } from '../operation.ts'
import { pageOf, QUEUE_WAIT_SECONDS } from '../serviceRows.ts'

/** SQLSTATE of a missing table: the queue's tables exist only after the first worker has started. */
const UNDEFINED_TABLE = '42P01'
const NO_QUEUES_TEXT =
  'El servicio no tiene colas, porque ningún proceso de trabajos ha arrancado. Arranque uno con «npm run worker».'

export const obtenerServicio: Handler<'obtenerServicio'> = async (_request, { db, clock, health, settings }) => {
  // Uses the database role of the workers, because other roles may not read the queue's tables.
  const deps = { db: db.asRole('guias_trabajos'), clock, backup: settings.backup }
  const measures = measuresOf(deps)
  const [{ ok: listo }, queued, values] = await Promise.all([
    health(),
    readQueues(deps),
    Promise.all(measures.map(({ read }) => read(deps))),
  ]).catch((error: { code?: string }) => {
    throw error.code === UNDEFINED_TABLE ? unavailable(NO_QUEUES_TEXT, error) : error
  })
  const medidas = measures.map(({ nombre, titulo, unidad, limite, pagina }, i) => {
    const valor = Math.round(values[i]!)
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
  const colas = queued.map(({ cola, count, segundos: seconds }) => ({
    cola,
    trabajos: count,
    espera_segundos: Math.round(seconds),
    bien: seconds <= QUEUE_WAIT_SECONDS,
  }))
  const bien = listo && [...medidas, ...colas].every((measure) => measure.bien)
  return { status: 200, body: { leido_en: clock().toISOString(), bien, listo, medidas, colas } }
}
