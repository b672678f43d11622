import { buscarComercio } from '../comercios/comercio.ts'
import { buscarPagina } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { presentarGuias } from './guia.ts'

/** Query parameters that only select a page. The audit line omits them. */
const PAGINACION = ['limite', 'cursor']

export const buscarGuias: Handler<'buscarGuias'> = async (
  { query, ...pedida },
  { db, dbDeLectura, cursores, bitacora, ajustes },
) => {
  const { comercio, ...filtros } = query ?? {}
  const fila = comercio === undefined ? undefined : await buscarComercio(db, comercio)
  // An unknown merchant gives an empty page, like a filter that no guide matches.
  if (comercio !== undefined && !fila) return { status: 200, body: { datos: [], cursor_siguiente: null } }
  const de = fila ? { comercioId: fila.id } : {}
  const quien = { operacion: 'buscarGuias', dueno: 'operador' }
  const pagina = await buscarPagina({ db: dbDeLectura, cursores }, quien, { ...filtros, ...de }, (guia) => guia)
  await bitacora.consultada(pedida, {
    accion: 'buscarGuias',
    ...(fila && { sobre: ['comercio', fila.comercio], de: { comercio_id: fila.id, modo: filtros.modo ?? null } }),
    campos: Object.keys(query ?? {}).filter((filtro) => !PAGINACION.includes(filtro)),
    despues: { guias: pagina.datos.length },
  })
  return { status: 200, body: { ...pagina, datos: await presentarGuias({ db, ajustes }, pagina.datos) } }
}
