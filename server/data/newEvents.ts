import { type Db, statement } from './db.ts'
import { askByKey } from './owners.ts'

// New events of guides of all merchants. A client keeps PostgreSQL snapshots, one per part of the data, and asks for
// the events that are not visible in them.

/** PostgreSQL snapshots (`pg_snapshot`), one for each database that `db.parts()` returns, in the same order. */
export type Snapshots = readonly string[]

/** Maximum length of snapshots that a client sends, in characters. */
const MAX_TEXT = 2_500

/** Upper bound of transaction numbers: PostgreSQL fails to read larger ones. */
const MAX_NUMBER = 2n ** 63n

/** Joins snapshots into one text, which {@link readSnapshots} reads. */
export const writeSnapshots = (snapshots: Snapshots): string => snapshots.join('-')

/** Parses the snapshots that a client sends; undefined if the text is malformed. */
export function readSnapshots(text: unknown): Snapshots | undefined {
  if (typeof text !== 'string' || text.length > MAX_TEXT) return undefined
  const snapshots = text.split('-')
  return snapshots.every(isSnapshot) ? snapshots : undefined
}

/**
 * Reports whether a text is a valid `pg_snapshot`: `min:max:` and the transactions in progress between them, in
 * increasing order.
 */
function isSnapshot(text: string): boolean {
  const parts = /^(\d{1,19}):(\d{1,19}):(\d{1,19}(?:,\d{1,19})*)?$/.exec(text)
  if (!parts) return false
  const [min, max] = [BigInt(parts[1]!), BigInt(parts[2]!)]
  const between = parts[3]?.split(',').map(BigInt) ?? []
  return (
    min > 0n &&
    min <= max &&
    max < MAX_NUMBER &&
    between.every((one, i) => one >= (between[i - 1] ?? min - 1n) + 1n && one < max)
  )
}

const NOW = statement<object, { snapshot: string }>('news.now', 'part', 'select flujo_ahora()::text as snapshot')

/** Maximum events read in each part; the newest are read. A client may send a very old snapshot. */
const MAX_EVENTS = 1_000

/** Reads the end of the index of the audit chain, which has the newest events. */
const SINCE = statement<{ snapshot: string }, { snapshot: string; guias: string[]; xids: string[]; more: boolean }>(
  'news.since',
  'part',
  `select flujo_ahora()::text as snapshot, count(*) = ${MAX_EVENTS} as more,
     coalesce(array_agg(guia) filter (where nuevo), '{}') as guias,
     coalesce(array_agg(xid::text) filter (where nuevo), '{}') as xids
   from (
     select guia, xid, not pg_visible_in_snapshot(xid, :snapshot::pg_snapshot) as nuevo
     from evento where secuencia > 0 and xid >= pg_snapshot_xmin(:snapshot::pg_snapshot)
     order by xid desc limit ${MAX_EVENTS}) e`,
  { plan: 'ordered' },
)

/** New events of guides, and the snapshots that the client must send with its next request. */
export interface News {
  snapshots: Snapshots
  /** Guide and transaction number of each event, and the number of its part. */
  events: readonly { guia: string; xid: bigint; part: number }[]
  /** True if there may be more new events than the maximum that was read. */
  more: boolean
}

/**
 * Reads the events of guides that the given snapshots do not have. Returns no events if there are no snapshots, or if
 * they belong to other parts.
 */
export async function readNews(db: Db, since: Snapshots | undefined): Promise<News> {
  const parts = db.parts()
  const rows = await Promise.all(
    parts.map(async (part, i) => {
      if (since?.length === parts.length) return (await part.query(SINCE, { snapshot: since[i]! }))[0]!
      return { ...(await part.query(NOW))[0]!, guias: [], xids: [], more: false }
    }),
  )
  return {
    snapshots: rows.map(({ snapshot }) => snapshot),
    events: rows.flatMap(({ guias, xids }, part) => guias.map((guia, i) => ({ guia, xid: BigInt(xids[i]!), part }))),
    more: rows.some(({ more }) => more),
  }
}

/** Returns the events that are not visible in the snapshots. */
export function newsAfter(since: Snapshots, news: News): News {
  const has = since.map(visibleIn)
  return { ...news, events: news.events.filter(({ xid, part }) => !has[part]?.(xid)) }
}

/**
 * Returns a function with the result of PostgreSQL's `pg_visible_in_snapshot` for this snapshot: whether a transaction
 * is visible.
 */
function visibleIn(snapshot: string): (xid: bigint) => boolean {
  const [min = '', max = '', between = ''] = snapshot.split(':')
  const running = new Set(between.split(','))
  return (xid) => xid < BigInt(min) || (xid < BigInt(max) && !running.has(String(xid)))
}

/** Digests of what a guide's page shows besides its events: how many notes there are, and the state of each message. */
const MARKS = statement<{ guias: readonly string[] }, { guia: string; mark: string }>(
  'news.marks',
  'part',
  `select i.guia, md5(concat_ws(' ',
     (select count(*) from nota n where n.comercio_id = i.comercio_id and n.modo = i.modo and n.guia_id = i.id),
     (select string_agg(m.numero || m.estado, ' ' order by m.numero) from mensaje m
      where m.comercio_id = i.comercio_id and m.modo = i.modo and m.guia_id = i.id))) as mark
   from guia_indice i where i.guia = any(:guias::text[])`,
  { plan: 'indexed' },
)

/** Returns a digest of the notes and messages of guides, by the guide's code. It differs after each change. */
export async function readMarks(db: Db, guias: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (guias.length === 0) return new Map()
  const rows = await askByKey(db, guias, (part, some) => part.query(MARKS, { guias: some }))
  return new Map(rows.map(({ guia, mark }) => [guia, mark]))
}

/** Position of a page: the snapshots of its events, and, if it shows one guide, the digest of its notes and messages. */
export interface NewsPosition {
  snapshots: Snapshots
  mark?: string | undefined
}

/** Writes a position as one text, which {@link readPosition} reads. */
export const writePosition = ({ snapshots, mark }: NewsPosition): string =>
  [writeSnapshots(snapshots), ...(mark ? [mark] : [])].join('~')

/** Parses the position that a client sends; undefined if the text is malformed. */
export function readPosition(text: unknown): NewsPosition | undefined {
  if (typeof text !== 'string') return undefined
  const [written, mark, ...more] = text.split('~')
  const snapshots = more.length > 0 ? undefined : readSnapshots(written)
  return snapshots && { snapshots, mark }
}
