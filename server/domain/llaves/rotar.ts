import { inTransaction } from '../../data/db.ts'
import { Problema } from '../../platform/errors.ts'
import {
  expireLlave,
  isLlaveActive,
  overlapEnd,
  requireLlave,
  requireOwnAlcances,
  saveReplacement,
  toBitacoraFields,
} from '../identities/llave.ts'
import type { Handler } from '../operation.ts'
import { requestLlave } from './requestLlave.ts'

const DEFAULT_OVERLAP_HOURS = 24

export const rotarLlave: Handler<'rotarLlave'> = async ({ path, body, ...caller }, deps) => {
  const { db, clock, bitacora, notifyJobs } = deps
  const previousLlave = await requireLlave(db, path.llave)
  if (previousLlave.tipo === 'oper')
    requireOwnAlcances(caller.identity, previousLlave.alcances, 'Rótela con una llave que los tenga.')
  const now = clock()
  if (!isLlaveActive(previousLlave, now)) {
    const reason = previousLlave.revocado_en ? 'fue revocada' : 'venció'
    throw new Problema('llave_inactiva', `La llave ${reason} y no se puede rotar. Cree una llave nueva.`)
  }
  const solapamiento_horas = body?.solapamiento_horas ?? DEFAULT_OVERLAP_HOURS
  const response = await inTransaction(db.central, async (query) => {
    if (previousLlave.tipo === 'oper') {
      const { dueno: operador, nombre, alcances, vence_en, redes } = previousLlave
      const rotation = { rota: path.llave, solapamiento_horas }
      const llave = { operador: { operador, nombre }, alcances, vence_en, redes, rotation }
      const requestedAprobacion = await requestLlave(query, deps, caller, llave)
      if (requestedAprobacion) return { status: 202 as const, body: requestedAprobacion }
    }
    const llave = await saveReplacement({ query }, now, previousLlave)
    const after = await expireLlave(query, previousLlave, overlapEnd(now, solapamiento_horas))
    await bitacora.record(query, caller, {
      accion: 'rotarLlave',
      sobre: ['llave', path.llave],
      ...toBitacoraFields(previousLlave),
      antes: { vence_en: previousLlave.vence_en },
      despues: { ...after, nueva: llave.id },
    })
    return { status: 201 as const, body: llave }
  })
  if (response.status === 202) notifyJobs()
  return response
}
