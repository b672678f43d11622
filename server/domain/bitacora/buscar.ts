import { findComercio } from '../comercios/comercio.ts'
import type { Handler } from '../operation.ts'
import { paginateBitacora, presentBitacoraLine } from './page.ts'

export const buscarEnBitacora: Handler<'buscarEnBitacora'> = async ({ query }, { db, cursors }) => {
  const { comercio, ...filters } = query ?? {}
  const comercioRow = comercio === undefined ? undefined : await findComercio(db, comercio)
  if (comercio !== undefined && !comercioRow) return { status: 200, body: { datos: [], cursor_siguiente: null } }
  const caller = { operacion: 'buscarEnBitacora', dueno: 'operador' }
  const de = { comercio_id: comercioRow?.id ?? null, modo: null }
  const page = await paginateBitacora({ db, cursors }, caller, filters, de, (line) => ({
    ...presentBitacoraLine(line),
    comercio: line.comercio,
  }))
  return { status: 200, body: page }
}
