import { inTransaction } from '../../data/db.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { exigirCorreo } from '../equipo/persona.ts'
import { guardarCorreo } from './correo.ts'

/** Minutes within which a trial mail must be sent; later it is dropped. */
const MINUTOS = 60

/**
 * Queues a trial mail to an address; the running service sends it.
 * @throws Problema 422
 */
export async function probarCorreo(
  deps: Pick<Deps, 'db' | 'secretos' | 'nuevoId' | 'bitacora' | 'avisarTrabajo'>,
  quien: Quien,
  texto: string,
): Promise<{ para: string }> {
  const para = exigirCorreo(texto, '/para')
  await inTransaction(deps.db.central, async (consultar) => {
    await guardarCorreo(consultar, deps, { tipo: 'prueba', para, datos: {}, minutos: MINUTOS })
    await deps.bitacora.anotar(consultar, quien, { accion: 'probarCorreo', campos: ['para'] })
  })
  deps.avisarTrabajo()
  return { para }
}
