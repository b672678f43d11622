import type { Cursors } from '../../api/lists/cursor.ts'
import { type Page, type Pagination, paginate } from '../../api/lists/page.ts'
import { type Db, statement } from '../../data/db.ts'
import { dbOfKey } from '../../data/owners.ts'
import type { comercio } from '../../generated/contract/prisma/client.ts'
import type { Evento, PaginaDeEventos, QuienReparte } from '../../generated/contract/types/index.ts'
import { GUIA_COLUMNS, type GuiaInJson, type GuiaRow } from '../records/guiaFields.ts'
import {
  type ComercioGuiaScope,
  type GuiaScope,
  requireGuiaCode,
  throwUnknownGuia,
  toScopeColumns,
} from '../records/guiaLookup.ts'
import { EVENTO_COLUMNS, type EventoInJson, type EventoRow, presentEvento } from './evento.ts'

interface WithEventos<E = EventoInJson> {
  eventos: E[]
}

/** Event as operators read it, with its author. */
type EventoRowWithAuthor = EventoInJson & Pick<EventoRow, 'autor'>

/** Merchant who owns a guide, and courier who carries the parcel. */
interface WithOwner extends Pick<GuiaRow, 'custodio'> {
  dueno: Pick<comercio, 'id' | 'comercio'>
}

/** Guide's code and page of its history: at most `count` events after the sequence `despues`. */
interface HistorySelection {
  guia: string
  despues: number
  count: number
}

type HistoryParameters = HistorySelection & Pick<GuiaRow, 'comercio_id' | 'modo'>

/** SQL of a page of the history of a guide. `i`, a row of `guia_indice`, names the guide. */
const eventosSql = (columns: string) => `coalesce((
  select json_agg(e order by e.secuencia) from (
    select ${columns} from evento
    where comercio_id = i.comercio_id and modo = i.modo and guia_id = i.id and secuencia > :despues
    order by secuencia limit :count) e), '[]') as eventos`

const IS_OWN_GUIA = 'i.guia = :guia and i.comercio_id = :comercio_id and i.modo = :modo'

/**
 * SQL of a guide and a page of its history as one JSON value. Describing and parsing thirty columns costs more than all
 * other work on the result.
 */
const guiaWithEventosSql = (
  extraColumns: string,
  condition: string,
  columns = EVENTO_COLUMNS,
) => `select row_to_json(x) as guia from (
     select ${GUIA_COLUMNS}, ${eventosSql(columns)}${extraColumns}
     from guia_indice i join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
     where ${condition}) x`

/**
 * Guide of one merchant, with its history. Guides of any merchant have a statement of their own. PostgreSQL planned a
 * combined statement anew for each request, and the planning cost twice as much as the read.
 */
const OWN_GUIA_WITH_EVENTOS = statement<HistoryParameters, { guia: GuiaInJson & WithEventos }>(
  'eventos.ownGuiaWithEventos',
  'merchant',
  guiaWithEventosSql('', IS_OWN_GUIA),
)
const ANY_GUIA_WITH_EVENTOS = statement<
  HistorySelection,
  { guia: GuiaInJson & WithEventos<EventoRowWithAuthor> & WithOwner }
>(
  'eventos.anyGuiaWithEventos',
  'part',
  guiaWithEventosSql(
    `, g.custodio,
       (select json_build_object('id', id, 'comercio', comercio) from comercio where id = i.comercio_id) as dueno`,
    'i.guia = :guia',
    `${EVENTO_COLUMNS}, autor`,
  ),
)

const EVENTOS_OF_GUIA = statement<HistoryParameters, WithEventos>(
  'eventos.eventosOfGuia',
  'merchant',
  `select ${eventosSql(EVENTO_COLUMNS)} from guia_indice i where ${IS_OWN_GUIA}`,
)

/** Dependencies of the functions that read a history. */
interface HistoryDeps {
  db: Db
  cursors: Cursors
}

/** Reads a merchant's guide and a page of its history, oldest event first. @throws Problema 404 as `findGuia` does */
export const readGuiaWithEventos = (
  deps: HistoryDeps,
  scope: ComercioGuiaScope,
  code: string,
  pagination: Pagination = {},
) =>
  readGuia(
    deps,
    scope,
    code,
    pagination,
    (selection) => deps.db.query(OWN_GUIA_WITH_EVENTOS, { ...selection, ...toScopeColumns(scope) }),
    presentEvento,
  )

/**
 * Event for operators: the contract's event, who recorded it (op_…, per_…, rep_… or com_…; null: the service), who had
 * assigned the guide to the courier who took it (op_… or per_…), and the courier who handed it over.
 */
export type EventoWithAuthors = Evento & {
  autor: string | null
  asignado_por: string | null
  traspasado_por: QuienReparte | null
}

/**
 * Reads a guide of any merchant, with its owner, its courier and a page of its history, oldest event first.
 * @throws Problema 404 as `findGuia` does
 */
export const readAnyGuiaWithEventos = (deps: HistoryDeps, code: string, pagination: Pagination = {}) =>
  readGuia(
    deps,
    'todos',
    code,
    pagination,
    async (selection) => (await dbOfKey(deps.db, selection.guia))?.query(ANY_GUIA_WITH_EVENTOS, selection) ?? [],
    (row: EventoRowWithAuthor): EventoWithAuthors => ({
      ...presentEvento(row),
      autor: row.autor,
      asignado_por: row.datos?.asignado_por ?? null,
      traspasado_por: row.datos?.traspasado_por ?? null,
    }),
  )

/** Reads a page of the history of a merchant's guide, oldest event first. @throws Problema 404 as `findGuia` does */
export const readEventos = (
  deps: HistoryDeps,
  scope: ComercioGuiaScope,
  code: string,
  pagination: Pagination = {},
): Promise<PaginaDeEventos> =>
  readPage(
    deps,
    scope,
    code,
    pagination,
    async (selection) => (await deps.db.query(EVENTOS_OF_GUIA, { ...selection, ...toScopeColumns(scope) }))[0],
    presentEvento,
  )

async function readGuia<Row extends EventoInJson, ReadGuia extends WithEventos<Row>, E>(
  deps: HistoryDeps,
  scope: GuiaScope,
  code: string,
  pagination: Pagination,
  read: (selection: HistorySelection) => Promise<{ guia: ReadGuia }[]>,
  present: (row: Row) => E,
): Promise<{ guia: ReadGuia; eventos: Page<E> }> {
  let guia: ReadGuia | undefined
  const readSelected = async (selection: HistorySelection) => {
    guia = (await read(selection))[0]?.guia
    return guia
  }
  const eventos = await readPage(deps, scope, code, pagination, readSelected, present)
  return { guia: guia!, eventos }
}

/** Reads a page of a history. A cursor of the guide's detail is also valid for the history alone, and vice versa. */
function readPage<Row extends EventoInJson, E>(
  { cursors }: HistoryDeps,
  scope: GuiaScope,
  code: string,
  pagination: Pagination,
  read: (selection: HistorySelection) => Promise<WithEventos<Row> | undefined>,
  present: (row: Row) => E,
): Promise<Page<E>> {
  const guia = requireGuiaCode(code, scope)
  const dueno = scope === 'todos' ? 'operador' : `${scope.comercioId}:${scope.modo}`
  return paginate(cursors, { operacion: 'eventosDeGuia', dueno, filters: { guia } }, pagination, {
    async read(after, count) {
      const guiaHistory = await read({ guia, despues: Number(after?.[0] ?? 0), count })
      return (guiaHistory ?? throwUnknownGuia(scope)).eventos
    },
    positionOf: ({ secuencia }) => [secuencia],
    present,
  })
}
