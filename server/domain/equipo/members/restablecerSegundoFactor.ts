import { inTransaction } from '../../../data/db.ts'
import type { Handler } from '../../operation.ts'
import { resetFactors } from '../factors/resetFactor.ts'
import { notifySecondFactor } from '../notify.ts'
import { COMPANY, readMembresias, requirePersona } from '../persona.ts'
import { requestAprobacion } from './approvable.ts'

export const restablecerSegundoFactor: Handler<'restablecerSegundoFactor'> = async ({ path, ...caller }, deps) => {
  const { db, bitacora, notifyJobs } = deps
  const { id, persona, nombre, correo } = await requirePersona(db, path.persona)
  const accion = 'restablecerSegundoFactor'
  const membresias = (await readMembresias(db, [id])).get(id) ?? []
  const { alcances } = membresias.find(({ ambito }) => ambito === COMPANY) ?? membresias[0] ?? {}
  const aprobacion = await inTransaction(db.central, async (query) => {
    // A person without membership cannot sign in, so nothing can be gained by resetting its factors.
    if (alcances) {
      const contenido = { correo, nombre, persona, membresia: null, llave: null, alcances }
      const tipo = 'restablecer_segundo_factor'
      const requestedAprobacion = await requestAprobacion(query, deps, caller, { accion, tipo, contenido })
      if (requestedAprobacion)
        await notifySecondFactor(query, deps, { nombre, correo }, { que: 'por_restablecer', quedan: 0 })
      if (requestedAprobacion) return requestedAprobacion
    }
    await bitacora.record(query, caller, {
      accion,
      ...(await resetFactors(query, deps, { id, persona, nombre, correo })),
    })
    return undefined
  })
  notifyJobs()
  return aprobacion ? { status: 202, body: aprobacion } : { status: 204, body: undefined }
}
