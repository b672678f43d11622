import type { Handler } from '../contrato/tipos.ts'
import { buscarPagina } from '../guias/guia.ts'
import { presentarGuia } from './guia.ts'

export const buscarGuias: Handler<'buscarGuias'> = async ({ query }, { db, cursores }) => {
  const { comercio, ...filtros } = query ?? {}
  const filas = comercio === undefined ? [] : [await (await db.prisma()).comercio.findUnique({ where: { comercio } })]
  // A merchant that doesn't exist has no guides, as a state that no guide is in.
  if (filas[0] === null) return { status: 200, body: { datos: [], cursor_siguiente: null } }
  const de = filas[0] ? { comercioId: filas[0].id } : {}
  const quien = { operacion: 'buscarGuias', dueno: 'operador' }
  return { status: 200, body: await buscarPagina({ db, cursores }, quien, { ...filtros, ...de }, presentarGuia) }
}
