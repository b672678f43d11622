import { requestKey } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { presentar } from './guia.ts'
import { createOnce } from './once.ts'
import { createCandidates, toCandidate } from './strict.ts'

export const crearGuia: Handler<'crearGuia'> = async (entrada, deps) => {
  const { body, nulls, identidad } = entrada
  const candidata = toCandidate(body, identidad, nulls)
  // A reference takes precedence over the key, and needs none.
  const key = body.external_ref === undefined ? requestKey(deps, 'crearGuia', entrada) : undefined
  const [veredicto] = key
    ? (await createOnce(deps, identidad, key, [candidata])).veredictos
    : await createCandidates(deps.escritura, identidad, [candidata])
  if ('problema' in veredicto!) throw veredicto.problema
  const { fila, repetida } = veredicto!
  const guia = presentar(deps.ajustes, fila)
  const Location = `/api/v1/guias/${guia.guia}`
  if (!repetida) return { status: 201, headers: { Location }, body: guia }
  return key
    ? { status: 201, headers: { Location, 'Idempotent-Replayed': 'true' }, body: guia }
    : { status: 200, headers: { 'Idempotent-Replayed': 'true' }, body: guia }
}
