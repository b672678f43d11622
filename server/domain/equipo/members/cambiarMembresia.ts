import { inTransaction } from '../../../data/db.ts'
import { findComercio } from '../../comercios/comercio.ts'
import type { Deps } from '../../deps.ts'
import { requireOwnAlcances } from '../../identities/llave.ts'
import type { Handler } from '../../operation.ts'
import {
  comercioOf,
  companyAlcances,
  lastAdministrator,
  presentMembresia,
  requireAlcancesOf,
  requireMembresia,
} from '../persona.ts'
import { ALCANCES_REMEDY, requestAprobacion } from './approvable.ts'
import { changeAlcances } from './membresia.ts'

export const cambiarMembresia: Handler<'cambiarMembresia'> = async ({ path, body, ...caller }, deps) => {
  const { db, bitacora, notifyJobs } = deps
  const before = await requireMembresia(db, path.membresia)
  const { id, ambito, persona, nombre, correo, membresia } = before
  const alcances = [...body.alcances]
  requireAlcancesOf(ambito, alcances)
  requireOwnAlcances(caller.identity, companyAlcances(alcances), ALCANCES_REMEDY)
  const de = await bitacoraFields(db, ambito)
  const accion = 'cambiarMembresia'
  const isAdministrator = before.alcances.includes('administrar')
  const becomesAdministrator = !isAdministrator && alcances.includes('administrar')
  const losesAlcances = isAdministrator && before.alcances.some((alcance) => !alcances.includes(alcance))
  const aprobacion = await inTransaction(db.central, async (query) => {
    if (becomesAdministrator || losesAlcances) {
      const contenido = { correo, nombre, persona, membresia, llave: null, alcances }
      const requestedAprobacion = await requestAprobacion(query, deps, caller, {
        accion,
        tipo: 'cambiar_membresia',
        contenido,
      })
      if (requestedAprobacion) return requestedAprobacion
    }
    if (!(await changeAlcances(query, { id, alcances }))) throw lastAdministrator()
    await bitacora.record(query, caller, {
      accion,
      sobre: ['persona', persona],
      ...de,
      antes: { alcances: before.alcances },
      despues: { alcances },
    })
    return undefined
  })
  if (!aprobacion) return { status: 200, body: presentMembresia({ ...before, alcances }) }
  notifyJobs()
  return { status: 202, body: aprobacion }
}

/** Returns the merchant in whose audit record a change of this membership appears; empty for the courier company. */
export async function bitacoraFields(db: Deps['db'], scope: string) {
  const code = comercioOf(scope)
  if (code === null) return {}
  const comercio = await findComercio(db, code)
  return comercio ? { de: { comercio_id: comercio.id, modo: null } } : {}
}
