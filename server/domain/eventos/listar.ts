import { DEFAULT_PAGE_SIZE } from '../../api/lists/page.ts'
import type { Db } from '../../data/db.ts'
import type { ListarEventosData, Modo, TipoDeEvento } from '../../generado/contrato/tipos/index.ts'
import { TIPOS_DE_EVENTO } from '../../generado/contrato/vocabulario.ts'
import { readInstant } from '../../platform/time/instant.ts'
import { readGuideFilter } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { presentarEvento } from './evento.ts'
import { COMIENZO, leerFlujo, type PosicionDelFlujo, posicionDesde, posicionFinal, posicionTras } from './flujo.ts'

type Consulta = NonNullable<ListarEventosData['query']>

/** Serves the event feed. Every response has a cursor, because the feed has no last page. */
export const listarEventos: Handler<'listarEventos'> = async ({ query = {}, identidad }, { db, cursores }) => {
  const { comercioId, modo } = identidad
  const { cursor, desde, tipo, guia, limite = DEFAULT_PAGE_SIZE } = query
  // The cursor does not contain the filters, because a position in the feed is valid with any filter.
  const ambito = { operacion: 'listarEventos', dueno: `${comercioId}:${modo}` }
  const despues =
    cursor === undefined
      ? await hallarComienzo(db, comercioId, modo, desde)
      : (cursores.descifrar(ambito, cursor) as PosicionDelFlujo)
  const filtros = {
    ...(tipo && { tipos: tiposDe(tipo) }),
    ...(guia !== undefined && { guia: readGuideFilter(guia) }),
  }
  const filas = await leerFlujo(db, comercioId, modo, despues, filtros, limite)
  const ultima = filas.at(-1)
  return {
    status: 200,
    body: {
      datos: filas.map(presentarEvento),
      cursor_siguiente: cursores.cifrar(ambito, ultima ? posicionTras(despues, ultima) : despues),
    },
  }
}

const hallarComienzo = (db: Db, comercioId: string, modo: Modo, desde: Consulta['desde']) => {
  if (desde === undefined) return COMIENZO
  if (desde === 'ahora') return posicionFinal(db, comercioId, modo)
  return posicionDesde(db, comercioId, modo, readInstant(desde)!)
}

/** Returns the event types that a filter names. A wildcard such as `guia.*` stands for all types of its family. */
const tiposDe = (nombres: NonNullable<Consulta['tipo']>): TipoDeEvento[] =>
  TIPOS_DE_EVENTO.filter((tipo) => nombres.some((uno) => uno === tipo || uno === `${tipo.split('.')[0]}.*`))
