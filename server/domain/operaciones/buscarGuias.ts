import { problemOfFaults } from '../../platform/errors.ts'
import { buscarComercio } from '../comercios/comercio.ts'
import { buscarPagina, readPhoneFilter } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { presentarGuias } from './guia.ts'

/** Query parameters that only select a page. The audit line omits them. */
const PAGINACION = ['limite', 'cursor']

const SIN_PAIS =
  'va sin + y no se sabe de qué país es: escríbalo con + (%2B en la dirección) y su código de país, por ejemplo %2B50255551234, o diga el pais'

export const buscarGuias: Handler<'buscarGuias'> = async (
  { query, ...pedida },
  { db, dbDeLectura, cursores, bitacora, ajustes },
) => {
  const { comercio, pais, ...resto } = query ?? {}
  if (pais !== undefined && resto.telefono === undefined)
    throw problemOfFaults('parametro_invalido', [
      { campo: 'pais', codigo: 'incompatible', mensaje: 'va con telefono: es el país del teléfono que va sin +' },
    ])
  const filtros = { ...resto, telefono: readPhoneFilter(resto.telefono, pais, SIN_PAIS) }
  const fila = comercio === undefined ? undefined : await buscarComercio(db, comercio)
  // An unknown merchant gives an empty page, like a filter that no guide matches.
  if (comercio !== undefined && !fila)
    return { status: 200, body: { datos: [], cursor_siguiente: null, parcial: false } }
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
