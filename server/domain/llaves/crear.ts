import { inTransaction } from '../../data/db.ts'
import { exigirComercio } from '../comercios/comercio.ts'
import type { Handler } from '../operation.ts'
import { guardarLlave, leerRedes, leerVencimiento, loQuePuede } from './llave.ts'

export const crearLlave: Handler<'crearLlave'> = async ({ path, body, ...quien }, { db, reloj, bitacora }) => {
  const { id: comercioId, comercio } = await exigirComercio(db, path.comercio)
  const { modo, alcances } = body
  const ahora = reloj()
  const vence_en = leerVencimiento(body.vence_en, ahora)
  const de = { comercioId, comercio, modo, alcances, vence_en, redes: leerRedes(body.redes) }
  const creada = await inTransaction(db.central, async (consultar) => {
    const llave = await guardarLlave({ consultar }, ahora, de)
    await bitacora.anotar(consultar, quien, {
      accion: 'crearLlave',
      sobre: ['llave', llave.id],
      de: { comercio_id: comercioId, modo },
      despues: { modo, ...loQuePuede(llave) },
    })
    return llave
  })
  return { status: 201, body: creada }
}
