import type { Handler } from '../operation.ts'
import { presentar } from './guia.ts'
import { createCandidates, toCandidate } from './strict.ts'

export const crearGuia: Handler<'crearGuia'> = async ({ body, nulls, identidad }, { escritura, ajustes }) => {
  const [veredicto] = await createCandidates(escritura, identidad, [toCandidate(body, identidad, nulls)])
  if ('problema' in veredicto!) throw veredicto.problema
  const { fila, repetida } = veredicto!
  const guia = presentar(ajustes, fila)
  return repetida
    ? { status: 200, headers: { 'Idempotent-Replayed': 'true' }, body: guia }
    : { status: 201, headers: { Location: `/api/v1/guias/${guia.guia}` }, body: guia }
}
