import { buscarComercio } from '../comercios/comercio.ts'
import type { Handler } from '../operation.ts'
import { paginarBitacora, presentarLinea } from './page.ts'

export const buscarEnBitacora: Handler<'buscarEnBitacora'> = async ({ query }, { db, cursores }) => {
  const { comercio, ...filtros } = query ?? {}
  const fila = comercio === undefined ? undefined : await buscarComercio(db, comercio)
  if (comercio !== undefined && !fila) return { status: 200, body: { datos: [], cursor_siguiente: null } }
  const quien = { operacion: 'buscarEnBitacora', dueno: 'operador' }
  const de = { comercio_id: fila?.id ?? null, modo: null }
  const pagina = await paginarBitacora({ db, cursores }, quien, filtros, de, (linea) => ({
    ...presentarLinea(linea),
    comercio: linea.comercio,
  }))
  return { status: 200, body: pagina }
}
