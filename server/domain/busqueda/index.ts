import { type Db, inTransaction, type Query, statement } from '../../data/db.ts'
import { VISIBLE_TO_FEED } from '../../data/eventOrder.ts'
import { runInEachPart } from '../../data/partQueries.ts'
import type { busqueda, busqueda_avance } from '../../generated/contract/prisma/client.ts'
import type { TipoDeEvento } from '../../generated/contract/types/index.ts'
import type { Deps } from '../deps.ts'
import { KEY_VERSION, LOCK_KEY, type Searchable, searchKeysOf, toTsvector } from './keys.ts'

/** Maximum events that one run reads in a part of the data. */
const MAX_EVENTOS_PER_RUN = 2_000
/** Types of events that change a guide's search keys. */
const CHANGING_EVENTOS: readonly TipoDeEvento[] = ['guia.aceptado', 'guia.corregida']

/** Position of an event in the event feed of its part of the data (server/data/eventOrder.ts). */
interface IndexPosition extends Pick<busqueda_avance, 'guia_id' | 'secuencia'> {
  xid: string
}
const START: IndexPosition = { xid: '0', guia_id: '00000000-0000-0000-0000-000000000000', secuencia: 0 }

/**
 * Event, and the columns from which its guide's search keys are made. The columns are null if the event changes no
 * keys, or if the guide's data was erased.
 */
interface EventoRead extends IndexPosition, Pick<busqueda, 'comercio_id' | 'modo'> {
  destinatario: string | null
  municipio: string | null
  external_ref: string | null
  dia: number | null
}

const PROGRESS = statement<{ parte: number; version: number }, IndexPosition>(
  'busqueda.progress',
  'central',
  `select xid::text as xid, guia_id, secuencia from busqueda_avance where parte = :parte and version = :version`,
)
const ADVANCE = statement<{ parte: number; version: number } & IndexPosition>(
  'busqueda.advance',
  'central',
  `insert into busqueda_avance as a (parte, version, xid, guia_id, secuencia)
   values (:parte, :version, :xid::text::xid8, :guia_id, :secuencia)
   on conflict (parte) do update set version = excluded.version, xid = excluded.xid, guia_id = excluded.guia_id,
     secuencia = excluded.secuencia
   where a.version <= excluded.version and (a.version < excluded.version
     or (a.xid, a.guia_id, a.secuencia) < (excluded.xid, excluded.guia_id, excluded.secuencia))`,
)

/** Locks the search keys of a part for this transaction, so that no other process writes or erases them meanwhile. */
const RESERVE = statement<object, { acquired: boolean }>(
  'busqueda.reserve',
  'anywhere',
  `select pg_try_advisory_xact_lock(${LOCK_KEY}) as acquired`,
)
const NEXT = statement<IndexPosition, EventoRead>(
  'busqueda.next',
  // `evento.xid` is the number. `order by xid` would sort by the output column, which is text.
  'part',
  `select e.xid::text as xid, e.guia_id, e.secuencia, e.comercio_id, e.modo, g.destinatario, g.municipio,
     g.external_ref, (g.creado_en at time zone 'UTC')::date - date '1970-01-01' as dia
   from (
     select xid, comercio_id, modo, guia_id, secuencia, tipo from evento
     where secuencia > 0 and xid >= :xid::text::xid8
       and (xid, guia_id, secuencia) > (:xid::text::xid8, :guia_id::uuid, :secuencia::int) and ${VISIBLE_TO_FEED}
     order by evento.xid, guia_id, secuencia limit ${MAX_EVENTOS_PER_RUN}
   ) e left join guia g on e.tipo in (${CHANGING_EVENTOS.map((type) => `'${type}'`).join(', ')})
     and g.comercio_id = e.comercio_id and g.modo = e.modo and g.id = e.guia_id and g.datos_borrados_en is null
   order by e.xid, e.guia_id, e.secuencia`,
)
const SAVE = statement<Record<'comercios' | 'modos' | 'guias' | 'claves', readonly string[]>>(
  'busqueda.save',
  'part',
  `insert into busqueda (comercio_id, modo, id, claves)
   select * from unnest(:comercios::uuid[], :modos::text[], :guias::uuid[], :claves::text[]::tsvector[])
   on conflict (comercio_id, modo, id) do update set claves = excluded.claves`,
)

/**
 * Writes the keys of guides that were created or corrected since the last run. Starts again at the first event if the
 * version of {@link searchKeysOf} has changed. If the process dies in between, the next run repeats its work.
 * @returns true if more events may be left
 */
export const indexGuias = async ({ db }: Pick<Deps, 'db'>): Promise<boolean> =>
  (await runInEachPart(db, (part) => indexPart(db, part))).includes(true)

async function indexPart(db: Db, part: Db): Promise<boolean> {
  const number = part.place && 'part' in part.place ? part.place.part : 0
  const progressKey = { parte: number, version: KEY_VERSION }
  const [from = START] = await db.central.query(PROGRESS, progressKey)
  const nextRows = await inTransaction(part, async (query) => {
    const [{ acquired } = { acquired: false }] = await query(RESERVE)
    return acquired ? indexNext(query, from) : []
  })
  const last = nextRows.at(-1)
  if (last) await db.central.query(ADVANCE, { ...progressKey, ...last })
  return nextRows.length === MAX_EVENTOS_PER_RUN
}

async function indexNext(query: Query, from: IndexPosition): Promise<IndexPosition[]> {
  const nextRows = await query(NEXT, from)
  const rows = new Map(
    nextRows.flatMap((nextRow) =>
      nextRow.dia !== null ? [[nextRow.guia_id, nextRow as EventoRead & Searchable] as const] : [],
    ),
  )
  if (rows.size > 0) {
    const searchables = [...rows.values()]
    await query(SAVE, {
      comercios: searchables.map(({ comercio_id }) => comercio_id),
      modos: searchables.map(({ modo }) => modo),
      guias: searchables.map(({ guia_id }) => guia_id),
      claves: searchables.map((searchable) => toTsvector(searchKeysOf(searchable))),
    })
  }
  return nextRows
}
