import { inTransaction } from '../../data/db.ts'
import { ALCANCES_DE_OPERACION } from '../../generated/contract/vocabulary.ts'
import { Problema } from '../../platform/errors.ts'
import { llavePowers, parseExpiry, readNetworks, requireOwnAlcances, saveOperadorLlave } from '../identities/llave.ts'
import { requireOperador } from '../operadores/operador.ts'
import type { Handler } from '../operation.ts'
import { requestLlave } from './requestLlave.ts'

export const crearLlaveDeOperador: Handler<'crearLlaveDeOperador'> = async ({ path, body, ...caller }, deps) => {
  const { db, clock, bitacora, notifyJobs } = deps
  const { alcances = ALCANCES_DE_OPERACION } = body
  requireOwnAlcances(caller.identity, alcances, 'Pida en «alcances» solo los suyos, o use una llave que los tenga.')
  const { id: operadorId, operador, nombre, revocado_en } = await requireOperador(db, path.operador)
  // If the operator is revoked after this check, the new key is invalid too: a revoked operator has no valid keys.
  if (revocado_en)
    throw new Problema(
      'operador_revocado',
      'El operador fue revocado y no puede tener llaves nuevas. Cree otro operador.',
    )
  const now = clock()
  const vence_en = parseExpiry(body.vence_en, now)
  const de = { operadorId, operador, alcances, vence_en, redes: readNetworks(body.redes) }
  const response = await inTransaction(db.central, async (query) => {
    const requestedAprobacion = await requestLlave(query, deps, caller, { ...de, operador: { operador, nombre } })
    if (requestedAprobacion) return { status: 202 as const, body: requestedAprobacion }
    const llave = await saveOperadorLlave({ query }, now, de)
    const despues = { operador, ...llavePowers(llave) }
    await bitacora.record(query, caller, { accion: 'crearLlaveDeOperador', sobre: ['llave', llave.id], despues })
    return { status: 201 as const, body: llave }
  })
  if (response.status === 202) notifyJobs()
  return response
}
