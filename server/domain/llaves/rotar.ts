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

export const rotarLlave: Handler<'rotarLlave'> = async ({ path, body, ...quien }, deps) => {
  const { db, clock, bitacora, notifyJobs } = deps
  const previousLlave = await requireLlave(db, path.llave)
  if (previousLlave.tipo === 'oper')
    requireOwnAlcances(quien.identity, previousLlave.alcances, 'Rótela con una llave que los tenga.')
  const ahora = clock()
  if (!isLlaveActive(previousLlave, ahora)) {
    const reason = previousLlave.revocado_en ? 'fue revocada' : 'venció'
    throw new Problema('llave_inactiva', `La llave ${reason} y no se puede rotar. Cree una llave nueva.`)
  }
  const solapamiento_horas = body?.solapamiento_horas ?? DEFAULT_OVERLAP_HOURS
  const response = await inTransaction(db.central, async (query) => {
    if (previousLlave.tipo === 'oper') {
      const { dueno: operador, nombre, alcances, vence_en, redes } = previousLlave
      const rotation = { rota: path.llave, solapamiento_horas }
      const llave = { operador: { operador, nombre }, alcances, vence_en, redes, rotation }
      const requestedAprobacion = await requestLlave(query, deps, quien, llave)
      if (requestedAprobacion) return { status: 202 as const, body: requestedAprobacion }
    }
    const llave = await saveReplacement({ query }, ahora, previousLlave)
    const despues = await expireLlave(query, previousLlave, overlapEnd(ahora, solapamiento_horas))
    await bitacora.record(query, quien, {
      accion: 'rotarLlave',
      sobre: ['llave', path.llave],
      ...toBitacoraFields(previousLlave),
      antes: { vence_en: previousLlave.vence_en },
      despues: { ...despues, nueva: llave.id },
    })
    return { status: 201 as const, body: llave }
  })
  if (response.status === 202) notifyJobs()
  return response
}
