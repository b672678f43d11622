import { problemOfFaults } from '../../platform/errors.ts'
import { findComercio } from '../comercios/comercio.ts'
import { findGuiaPage, readPhoneFilter } from '../guias/list.ts'
import type { Handler } from '../operation.ts'
import { presentOperacionGuias } from './guia.ts'

/** Query parameters that only select a page. The audit line omits them. */
const PAGINATION = ['limite', 'cursor']

const WITHOUT_COUNTRY =
  'va sin + y no se sabe de qué país es: escríbalo con + (%2B en la dirección) y su código de país, por ejemplo %2B50255551234, o diga el pais'

export const buscarGuias: Handler<'buscarGuias'> = async (
  { query, ...request },
  { db, readDb, cursors, bitacora, settings },
) => {
  const { comercio, pais, asignada, ...rest } = query ?? {}
  if (pais !== undefined && rest.telefono === undefined)
    throw problemOfFaults('parametro_invalido', [
      { campo: 'pais', codigo: 'incompatible', mensaje: 'va con telefono: es el país del teléfono que va sin +' },
    ])
  const filters = {
    ...rest,
    ...(asignada && { asignada: asignada === 'si' }),
    telefono: readPhoneFilter(rest.telefono, pais, WITHOUT_COUNTRY),
  }
  const comercioRow = comercio === undefined ? undefined : await findComercio(db, comercio)
  // An unknown merchant gives an empty page, like a filter that no guide matches.
  if (comercio !== undefined && !comercioRow)
    return { status: 200, body: { datos: [], cursor_siguiente: null, parcial: false } }
  const de = comercioRow ? { comercioId: comercioRow.id } : {}
  const caller = { operacion: 'buscarGuias', dueno: 'operador' }
  const page = await findGuiaPage({ db: readDb, cursors }, caller, { ...filters, ...de }, (guia) => guia)
  await bitacora.recordRead(request, {
    accion: 'buscarGuias',
    ...(comercioRow && {
      sobre: ['comercio', comercioRow.comercio],
      de: { comercio_id: comercioRow.id, modo: filters.modo ?? null },
    }),
    campos: Object.keys(query ?? {}).filter((filterName) => !PAGINATION.includes(filterName)),
    despues: { guias: page.datos.length },
  })
  return { status: 200, body: { ...page, datos: await presentOperacionGuias({ db, settings }, page.datos) } }
}
