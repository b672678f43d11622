import type { LineaDeBitacora } from '../../generated/contract/types/index.ts'
import type { Handler } from '../operation.ts'
import type { BitacoraRow } from './bitacora.ts'
import { paginateBitacora, presentBitacoraLine } from './page.ts'

/** Converts an audit line for a merchant. Hides the networks, keys and request ids of operators and couriers. */
const presentLine = (row: BitacoraRow): LineaDeBitacora =>
  presentBitacoraLine(row.quien_tipo === 'llave' ? row : { ...row, llave: null, id_solicitud: null, red: null })

export const listarBitacora: Handler<'listarBitacora'> = async ({ query, identity }, { db, cursors }) => {
  const { comercioId: comercio_id, modo } = identity
  const caller = { operacion: 'listarBitacora', dueno: `${comercio_id}:${modo}` }
  const page = await paginateBitacora({ db, cursors }, caller, query ?? {}, { comercio_id, modo }, presentLine)
  return { status: 200, body: page }
}
