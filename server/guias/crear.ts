import type { Handler } from '../contrato/tipos.ts'
import { normalizar } from './datos.ts'
import { esRechazable, rechazar } from './estricto.ts'
import { presentar } from './guia.ts'

export const crearGuia: Handler<'crearGuia'> = async ({ body, identidad }, { escritura }) => {
  const datos = normalizar(body, identidad)
  if (esRechazable(body.estricto ?? identidad.estricto, datos)) {
    const rechazo = (await rechazar(escritura, identidad, [datos])).get(datos)
    if (rechazo) throw rechazo
  }
  const veredicto = await escritura.crear(identidad.comercioId, identidad.modo, datos)
  if ('problema' in veredicto) throw veredicto.problema
  const { fila, repetida } = veredicto
  return repetida
    ? { status: 200, headers: { 'Idempotent-Replayed': 'true' }, body: presentar(fila) }
    : { status: 201, headers: { Location: `/api/v1/guias/${fila.guia}` }, body: presentar(fila) }
}
