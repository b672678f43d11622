import { inTransaction } from '../../../data/db.ts'
import type { Handler } from '../../operation.ts'
import { COMPANY, lastAdministrator, readMembresias, requirePersona } from '../persona.ts'
import { requestAprobacion } from './approvable.ts'
import { erasePersona } from './prune.ts'

export const eliminarPersona: Handler<'eliminarPersona'> = async ({ path, ...caller }, deps) => {
  const { db, secretos, bitacora, notifyJobs } = deps
  const { id, persona, nombre, correo } = await requirePersona(db, path.persona)
  const accion = 'eliminarPersona'
  const membresias = (await readMembresias(db, [id])).get(id) ?? []
  const alcances = membresias.find(({ ambito }) => ambito === COMPANY)?.alcances ?? []
  const aprobacion = await inTransaction(db.central, async (query) => {
    if (alcances.includes('administrar')) {
      const contenido = { correo, nombre, persona, membresia: null, llave: null, alcances }
      const requestedAprobacion = await requestAprobacion(query, deps, caller, {
        accion,
        tipo: 'eliminar_persona',
        contenido,
      })
      if (requestedAprobacion) return requestedAprobacion
    }
    const lines = await erasePersona(query, secretos, { id, persona, correo })
    if (!lines) throw lastAdministrator()
    await bitacora.recordAll(
      query,
      caller,
      lines.map((line) => ({ accion, ...line })),
    )
    return undefined
  })
  if (!aprobacion) return { status: 204, body: undefined }
  notifyJobs()
  return { status: 202, body: aprobacion }
}
