import { type Db, statement } from '../../data/db.ts'
import { VISIBLE_TO_FEED } from '../../data/eventOrder.ts'
import type { Modo, TipoDeEvento } from '../../generated/contract/types/index.ts'
import { EVENTO_COLUMNS, type EventoInJson, type EventoRow } from './evento.ts'

/**
 * SQL condition for the events after a position. The event can be served, was registered at `desde` or later, and is
 * not visible in the snapshot `seen`.
 */
const AFTER_POSITION = `${VISIBLE_TO_FEED} and (xid, guia_id, secuencia) > (:xid::text::xid8, :guia_id::uuid, :secuencia::int)
  and registrado_en >= :desde::timestamptz
  and (:seen::pg_snapshot is null or not pg_visible_in_snapshot(xid, :seen::pg_snapshot))`

const FEED_COLUMNS = `${EVENTO_COLUMNS}, guia_id, xid::text as lugar`

type FeedParameters = {
  comercio_id: string
  modo: Modo
  xid: string
  guia_id: string
  secuencia: number
  desde: Date
  seen: string | null
  count: number
}
type FeedRow = EventoInJson & Pick<EventoRow, 'guia_id'> & { lugar: string }

const FEED = statement<FeedParameters, FeedRow>(
  'eventos.feed',
  'merchant',
  `select ${FEED_COLUMNS} from evento where comercio_id = :comercio_id and modo = :modo and ${AFTER_POSITION}
   order by xid, guia_id, secuencia limit :count`,
  { plan: 'generic' },
)

/**
 * Reads each type from its own range of the index and merges the ranges. A rare type costs as much as a frequent one.
 */
const FEED_BY_TYPE = statement<FeedParameters & { tipos: readonly TipoDeEvento[] }, FeedRow>(
  'eventos.feedByType',
  'merchant',
  `select ${FEED_COLUMNS} from unnest(:tipos::text[]) t(own) cross join lateral (
     select * from evento where comercio_id = :comercio_id and modo = :modo and tipo = t.own and ${AFTER_POSITION}
     order by xid, guia_id, secuencia limit :count) e
   order by xid, guia_id, secuencia limit :count`,
  { plan: 'generic' },
)

/**
 * Reads all events of the guide before sorting them; a guide has few. Otherwise the planner would search for them among
 * the events of all guides.
 */
const FEED_OF_GUIA = statement<FeedParameters & { guia: string; tipos: readonly TipoDeEvento[] | null }, FeedRow>(
  'eventos.feedOfGuia',
  'merchant',
  `with e as materialized (
     select * from evento where comercio_id = :comercio_id and modo = :modo
       and guia_id = (select id from guia_indice where guia = :guia and comercio_id = :comercio_id and modo = :modo))
   select ${FEED_COLUMNS} from e where ${AFTER_POSITION} and (:tipos::text[] is null or tipo = any(:tipos))
   order by xid, guia_id, secuencia limit :count`,
)

/**
 * Finds the transaction from which the feed contains events registered at `desde` or later. A binary search takes some
 * forty lookups in the feed's index, for a feed of any length. Transaction numbers follow the clock, except for the
 * duration of transactions and the difference between two processes' clocks. The search therefore looks for a time one
 * minute earlier; from there on, `registrado_en` decides.
 */
const START_FROM_TIME = statement<{ comercio_id: string; modo: Modo; desde: Date }, { xid: string }>(
  'eventos.startFromTime',
  'merchant',
  `with recursive b(antes, despues) as (
     select coalesce((select xid from evento where comercio_id = :comercio_id and modo = :modo
         order by xid, guia_id, secuencia limit 1), fin)::text::int8 - 1, fin::text::int8
     from flujo_hasta() fin
     union all
     select case when p.anterior then m.medio else antes end, case when p.anterior then despues else m.medio end
     from b, lateral (select (antes + despues) / 2 as medio) m, lateral (select coalesce((
         select registrado_en < :desde::timestamptz - interval '1 minute' from evento
         where comercio_id = :comercio_id and modo = :modo and xid >= m.medio::text::xid8 and ${VISIBLE_TO_FEED}
         order by xid, guia_id, secuencia limit 1), false) as anterior) p
     where despues - antes > 1
   )
   select despues::text as xid from b order by despues - antes limit 1`,
)

/**
 * Returns the end of the events that can be served. `seen` is the current snapshot if events exist beyond that end,
 * and null otherwise. These events are committed but wait until an older transaction ends.
 */
const FEED_END = statement<{ comercio_id: string; modo: Modo }, { xid: string; seen: string | null }>(
  'eventos.feedEnd',
  'merchant',
  `select fin::text as xid, case when exists (select from evento
     where comercio_id = :comercio_id and modo = :modo and xid >= fin) then flujo_ahora()::text end as seen
   from flujo_hasta() fin`,
)

/** Maximum length of a snapshot in a cursor, in characters. A snapshot of some 150 transactions in progress fits. */
const MAX_SEEN_LENGTH = 2_500

/**
 * Position in the feed: the event after which the feed continues. Events registered before `desde` (milliseconds since
 * 1970) are excluded. Events visible in the snapshot `seen` (a `pg_snapshot`) are excluded, too.
 */
export type FeedPosition = readonly [xid: string, guiaId: string, secuencia: number, desde: number, ...seen: string[]]

const NO_GUIA = '00000000-0000-0000-0000-000000000000'

/** Position before the first event of the feed. */
export const FEED_START: FeedPosition = ['0', NO_GUIA, 0, 0]

/** Returns the position before the first event that was registered at `desde` or later. */
export async function findPositionFrom(db: Db, comercio_id: string, modo: Modo, desde: Date): Promise<FeedPosition> {
  const [row] = await db.query(START_FROM_TIME, { comercio_id, modo, desde })
  return [row!.xid, NO_GUIA, 0, desde.getTime()]
}

/**
 * Returns the position after all events that exist now, including events that cannot be served yet. With very many
 * transactions in progress, the snapshot exceeds {@link MAX_SEEN_LENGTH}, and the events that cannot be served yet come after
 * the position.
 */
export async function readEndPosition(db: Db, comercio_id: string, modo: Modo): Promise<FeedPosition> {
  const [row] = await db.query(FEED_END, { comercio_id, modo })
  const { xid, seen } = row!
  return seen && seen.length <= MAX_SEEN_LENGTH ? [xid, NO_GUIA, 0, 0, seen] : [xid, NO_GUIA, 0, 0]
}

/**
 * Returns the position after `evento`, which was read from the position `before`. The snapshot is kept as long as it can
 * exclude an event.
 */
export function positionAfter(before: FeedPosition, evento: FeedRow): FeedPosition {
  const [, , , from, seen] = before
  const place = [evento.lugar, evento.guia_id, evento.secuencia, from] as const
  const [, until] = seen?.split(':') ?? []
  return seen && until && BigInt(evento.lugar) < BigInt(until) ? [...place, seen] : place
}

/** Filters of the feed: by types, by guide, or none. */
export interface FeedFilter {
  tipos?: readonly TipoDeEvento[]
  guia?: string
}

/** Reads the next events of a merchant in one mode, in the feed's order. */
export function readFeed(
  db: Db,
  comercio_id: string,
  modo: Modo,
  [xid, guia_id, secuencia, from, seen]: FeedPosition,
  { tipos, guia }: FeedFilter,
  count: number,
): Promise<FeedRow[]> {
  const parameters = {
    comercio_id,
    modo,
    xid,
    guia_id,
    secuencia,
    desde: new Date(from),
    seen: seen ?? null,
    count,
  }
  if (guia !== undefined) return db.query(FEED_OF_GUIA, { ...parameters, guia, tipos: tipos ?? null })
  return tipos ? db.query(FEED_BY_TYPE, { ...parameters, tipos }) : db.query(FEED, parameters)
}
