import { inTransaction } from '../../../data/db.ts'
import type { Handler } from '../../operation.ts'
import { lastAdministrator, requireMembresia } from '../persona.ts'
import { requestAprobacion } from './approvable.ts'
import { bitacoraFields } from './cambiarMembresia.ts'
import { removeMembresia } from './membresia.ts'

export const quitarMembresia: Handler<'quitarMembresia'> = async ({ path, ...caller }, deps) => {
  const { db, bitacora, notifyJobs } = deps
  const { id, ambito, persona, nombre, correo, membresia, alcances } = await requireMembresia(db, path.membresia)
  const de = await bitacoraFields(db, ambito)
  const accion = 'quitarMembresia'
  const aprobacion = await inTransaction(db.central, async (query) => {
    if (alcances.includes('administrar')) {
      const contenido = { correo, nombre, persona, membresia, llave: null, alcances }
      const requestedAprobacion = await requestAprobacion(query, deps, caller, {
        accion,
        tipo: 'quitar_membresia',
        contenido,
      })
      if (requestedAprobacion) return requestedAprobacion
    }
    if (!(await removeMembresia(query, { id }))) throw lastAdministrator()
    const sobre = ['persona', persona] as const
    await bitacora.record(query, caller, { accion, sobre, ...de, antes: { alcances }, despues: {} })
    return undefined
  })
  if (!aprobacion) return { status: 204, body: undefined }
  notifyJobs()
  return { status: 202, body: aprobacion }
}
