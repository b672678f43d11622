import type { LineaDeBitacora } from '../../generado/contrato/tipos/index.ts'
import type { Handler } from '../operation.ts'
import type { FilaBitacora } from './bitacora.ts'
import { paginarBitacora, presentarLinea } from './page.ts'

/** Converts an audit line for a merchant. Hides the networks, keys and request ids of operators and couriers. */
const presentar = (fila: FilaBitacora): LineaDeBitacora =>
  presentarLinea(fila.quien_tipo === 'llave' ? fila : { ...fila, llave: null, id_solicitud: null, red: null })

export const listarBitacora: Handler<'listarBitacora'> = async ({ query, identidad }, { db, cursores }) => {
  const { comercioId: comercio_id, modo } = identidad
  const quien = { operacion: 'listarBitacora', dueno: `${comercio_id}:${modo}` }
  const pagina = await paginarBitacora({ db, cursores }, quien, query ?? {}, { comercio_id, modo }, presentar)
  return { status: 200, body: pagina }
}
