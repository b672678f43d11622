import { exigirComercio } from '../comercios/comercio.ts'
import type { Handler } from '../contrato/tipos.ts'
import { guardarLlave, leerRedes, leerVencimiento } from './llave.ts'

export const crearLlave: Handler<'crearLlave'> = async ({ path, body }, { db, reloj }) => {
  const { id: comercioId, comercio } = await exigirComercio(db, path.comercio)
  const { modo, alcances } = body
  const ahora = reloj()
  const vence_en = leerVencimiento(body.vence_en, ahora)
  const redes = leerRedes(body.redes)
  const de = { comercioId, comercio, modo, alcances, vence_en, redes }
  return { status: 201, body: await guardarLlave(db, ahora, de) }
}
