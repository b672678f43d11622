import { inTransaction } from '../../data/db.ts'
import type { Actor } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { requireCorreo, saveCorreo } from './correo.ts'

/** Minutes within which a trial mail must be sent; later it is dropped. */
const LIFETIME_MINUTES = 60

/**
 * Queues a trial mail to an address; the running service sends it.
 * @throws Problema 422
 */
export async function sendTestCorreo(
  deps: Pick<Deps, 'db' | 'secretos' | 'newId' | 'bitacora' | 'notifyJobs'>,
  actor: Actor,
  text: string,
): Promise<{ para: string }> {
  const para = requireCorreo(text, '/para')
  await inTransaction(deps.db.central, async (query) => {
    await saveCorreo(query, deps, { tipo: 'prueba', para, datos: {}, lifetimeMinutes: LIFETIME_MINUTES })
    await deps.bitacora.record(query, actor, { accion: 'probarCorreo', campos: ['para'] })
  })
  deps.notifyJobs()
  return { para }
}
