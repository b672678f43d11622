import { buscarComercio } from '../comercios/comercio.ts'
import type { Handler } from '../contrato/tipos.ts'
import { buscarPagina } from '../guias/guia.ts'
import { presentarGuia } from './guia.ts'

export const buscarGuias: Handler<'buscarGuias'> = async ({ query }, { db, cursores }) => {
  const { comercio, ...filtros } = query ?? {}
  const fila = comercio === undefined ? undefined : await buscarComercio(db, comercio)
  // A merchant that doesn't exist has no guides, as a state that no guide is in.
  if (comercio !== undefined && !fila) return { status: 200, body: { datos: [], cursor_siguiente: null } }
  const de = fila ? { comercioId: fila.id } : {}
  const quien = { operacion: 'buscarGuias', dueno: 'operador' }
  return { status: 200, body: await buscarPagina({ db, cursores }, quien, { ...filtros, ...de }, presentarGuia) }
}
