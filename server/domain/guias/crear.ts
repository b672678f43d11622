import { requestKey } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { present } from '../records/guiaPresentation.ts'
import { createOnce } from './createOnce.ts'
import { createCandidates, toCandidate } from './strict.ts'

export const crearGuia: Handler<'crearGuia'> = async (input, deps) => {
  const { body, nulls, identity } = input
  const candidate = toCandidate(body, identity, nulls)
  // A reference takes precedence over the key, and needs none.
  const key = body.external_ref === undefined ? requestKey(deps, 'crearGuia', input) : undefined
  const [verdict] = key
    ? (await createOnce(deps, identity, key, [candidate])).verdicts
    : await createCandidates(deps.escritura, identity, [candidate])
  if ('problema' in verdict!) throw verdict.problema
  const { row, repetida } = verdict!
  const guia = present(deps.settings, row)
  const Location = `/api/v1/guias/${guia.guia}`
  if (!repetida) return { status: 201, headers: { Location }, body: guia }
  return key
    ? { status: 201, headers: { Location, 'Idempotent-Replayed': 'true' }, body: guia }
    : { status: 200, headers: { 'Idempotent-Replayed': 'true' }, body: guia }
}
