import { DEFAULT_PAGE_SIZE } from '../../api/lists/page.ts'
import type { Db } from '../../data/db.ts'
import type { ListarEventosData, Modo, TipoDeEvento } from '../../generated/contract/types/index.ts'
import { TIPOS_DE_EVENTO } from '../../generated/contract/vocabulary.ts'
import { readInstant } from '../../platform/time/instant.ts'
import type { Handler } from '../operation.ts'
import { readGuideFilter } from '../records/guiaLookup.ts'
import { presentEvento } from './evento.ts'
import { FEED_START, type FeedPosition, findPositionFrom, positionAfter, readEndPosition, readFeed } from './stream.ts'

type ListQuery = NonNullable<ListarEventosData['query']>

/** Serves the event feed. Every response has a cursor, because the feed has no last page. */
export const listarEventos: Handler<'listarEventos'> = async ({ query = {}, identity }, { db, cursors }) => {
  const { comercioId, modo } = identity
  const { cursor, desde, tipo, guia, limite = DEFAULT_PAGE_SIZE } = query
  // The cursor does not contain the filters, because a position in the feed is valid with any filter.
  const scope = { operacion: 'listarEventos', dueno: `${comercioId}:${modo}` }
  const after =
    cursor === undefined
      ? await findStart(db, comercioId, modo, desde)
      : (cursors.decrypt(scope, cursor) as FeedPosition)
  const filters = {
    ...(tipo && { tipos: expandTypes(tipo) }),
    ...(guia !== undefined && { guia: readGuideFilter(guia) }),
  }
  const rows = await readFeed(db, comercioId, modo, after, filters, limite)
  const last = rows.at(-1)
  return {
    status: 200,
    body: {
      datos: rows.map(presentEvento),
      cursor_siguiente: cursors.encrypt(scope, last ? positionAfter(after, last) : after),
    },
  }
}

const findStart = (db: Db, comercioId: string, modo: Modo, from: ListQuery['desde']) => {
  if (from === undefined) return FEED_START
  if (from === 'ahora') return readEndPosition(db, comercioId, modo)
  return findPositionFrom(db, comercioId, modo, readInstant(from)!)
}

/** Returns the event types that a filter names. A wildcard such as `guia.*` stands for all types of its family. */
const expandTypes = (names: NonNullable<ListQuery['tipo']>): TipoDeEvento[] =>
  TIPOS_DE_EVENTO.filter((type) => names.some((pattern) => pattern === type || pattern === `${type.split('.')[0]}.*`))
