import pg from 'pg'
import { ALFABETO } from '../../codigos/codigoDeGuia.ts'
import type { Part, Place, Placements } from '../parts.ts'
import { laid, type Placement } from './laying.ts'

// Where merchants' rows lie on Citus, and the way there that leaves the coordinator out. Each part (what Citus calls the
// colocated shards of one range) has on its machine a schema `p<number>_<era>` with a view of each of its shards under the
// table's own name. A session there that has it in `search_path` is a session of one PostgreSQL: Citus doesn't plan what names
// no distributed table, so the statement is PostgreSQL's own, with its plan kept.

/** A row of `parte`. */
interface Numbered {
  numero: number
  desde: number
  hasta: number
  era: number
  nodo: number
  nadie: string
}

const PLACEMENTS = `select c.relname as tabla, s.shardid::text, n.groupid as nodo, n.nodename, n.nodeport,
    s.shardminvalue::int as desde, s.shardmaxvalue::int as hasta
  from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid join pg_dist_shard s using (logicalrelid)
  join pg_dist_placement using (shardid) join pg_dist_node n using (groupid)
  where n.noderole = 'primary' and c.relnamespace = 'public'::regnamespace
    and (p.partmethod = 'n' and p.repmodel = 't' or p.partmethod = 'h' and p.colocationid =
      (select colocationid from pg_dist_partition where logicalrelid = to_regclass('public.guia')))`

const NUMBERED = 'select numero, desde, hasta, era, nodo, nadie from parte order by numero'

/** What the views are made after: the last migration. */
const VERSION = `select coalesce(max(migration_name), '') as version from _prisma_migrations where finished_at is not null`

/** A merchant of nobody's whose rows would lie in the range. */
const NOBODY = `select id from (select gen_random_uuid() as id from generate_series(1, 1000)) x
  where worker_hash(id) between $1 and $2 limit 1`

/** Codes given out before their first character named a part: their place in it is taken, so that no new guide gets one. */
const TAKE_CODES = `insert into guia_indice (guia, comercio_id, modo, id)
  select clave, $3::uuid, 'live', '00000000-0000-0000-0000-000000000000' from dueno
  where length(clave) = 12 and left(clave, 1) = $4 and worker_hash(comercio_id) not between $1 and $2
  on conflict do nothing`

/** The lock that whoever migrates holds: the schemas that he takes away aren't laid meanwhile. */
const MIGRATIONS = 72_707_369

/** What a session hears where the part isn't, or isn't laid yet: moved, no view, no schema, no function. */
const MOVED = new Set(['55006', '42P01', '3F000', '42883'])
/** How long a statement follows a part that moves, and rests between, in milliseconds. */
const PATIENCE = 6_000
const REST = 50
/** How often it is looked for machines that can't be reached, in milliseconds. */
const PAUSE = 1_000
/** Merchants whose hash is remembered. */
const REMEMBERED = 200_000

/** Why the parts can't be used, in words for whoever starts the service. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError'
}

/** The parts of a cluster's tables as one process knows them, and who lies in which. */
export class Cluster implements Placements {
  readonly settings = {
    /** Whose rows may be seen is said to the workers, too, when a transaction is told it. */
    'citus.propagate_set_commands': 'local',
    /** What asks all machines asks each by one connection: by sixteen, a few processes take all that the workers have. */
    'citus.max_adaptive_executor_pool_size': '1',
  }
  /** A shard that moves takes along what its machine has written out, and no commit that didn't wait for that. */
  readonly machineSettings = { synchronous_commit: 'on' }
  readonly #url: string
  #parts: readonly Part[] = []
  #numbered: readonly Numbered[] = []
  /** Parts whose machine couldn't be reached when it was looked at. */
  #missing = new Map<number, unknown>()
  readonly #hashes = new Map<string, number>()
  #looking: Promise<void> | undefined
  #looked = Number.NEGATIVE_INFINITY

  private constructor(url: string) {
    this.#url = url
  }

  /** Looks where everything lies; whoever holds the lock of the migrations says so. */
  static async open(url: string, migrating = false): Promise<Cluster> {
    const cluster = new Cluster(url)
    await cluster.#look(migrating)
    return cluster
  }

  parts(): readonly Part[] {
    return this.#parts
  }

  /** Numbers of the parts where the guide of such a code may lie; none: it names no part. */
  named(code: string): readonly number[] {
    const one = this.#numbered.find(({ numero }) => numero === ALFABETO.indexOf(code[0]!) + 1)
    if (!one || code.length !== 12) return []
    return this.#parts.filter(({ from, to }) => from <= one.hasta && to >= one.desde).map(({ number }) => number)
  }

  /** Where a place is now. @throws if its machine couldn't be reached */
  async find(place: Place): Promise<Part> {
    const part =
      'part' in place
        ? this.#parts.find(({ number }) => number === place.part)
        : this.#holderOf(await this.#hash(place.merchant))
    if (!part) throw Object.assign(new Error('there is no such part'), { code: '55006' })
    if (this.#missing.has(part.number)) {
      this.#lookSometime()
      throw this.#missing.get(part.number)
    }
    return part
  }

  async number(merchant: string): Promise<number> {
    return this.#holderOf(await this.#hash(merchant))!.number
  }

  known(merchant: string): number | undefined {
    const hash = this.#hashes.get(merchant)
    return hash === undefined ? undefined : this.#holderOf(hash)?.number
  }

  /** Does something in a part; again, where it lies then, if it moves meanwhile. */
  async follow<T>(place: Place, act: (part: Part) => Promise<T>): Promise<T> {
    for (const end = performance.now() + PATIENCE; ; ) {
      try {
        return await act(await this.find(place))
      } catch (error) {
        // Whoever can't be reached may have been replaced: who asks later finds the other one.
        if (!(error instanceof pg.DatabaseError)) this.#lookSometime()
        if (!hasMoved(error)) throw error
        if (performance.now() > end || this.#isGone(place)) throw notNow(error)
      }
      await new Promise((resolve) => setTimeout(resolve, REST))
      await this.#look().catch((error: unknown) => {
        if (!hasMoved(error)) throw error
      })
    }
  }

  /** Reports whether there is no such part any more: others have its rows, by other numbers. */
  #isGone(place: Place): boolean {
    return 'part' in place && !this.#parts.some(({ number }) => number === place.part)
  }

  #lookSometime(): void {
    if (performance.now() < this.#looked + PAUSE) return
    this.#looked = performance.now()
    this.#look().catch(() => {})
  }

  #holderOf(hash: number): Part | undefined {
    return this.#parts.find(({ from, to }) => from <= hash && to >= hash)
  }

  async #hash(merchant: string): Promise<number> {
    const known = this.#hashes.get(merchant)
    if (known !== undefined) return known
    const [{ hash }] = await this.#anywhere<{ hash: number }>('select worker_hash($1::uuid) as hash', [merchant])
    if (this.#hashes.size >= REMEMBERED) this.#hashes.clear()
    this.#hashes.set(merchant, hash)
    return hash
  }

  /** Asks whichever node answers: the coordinator, or else a machine. */
  async #anywhere<R>(text: string, values: unknown[]): Promise<[R, ...R[]]> {
    const urls = [this.#url, ...new Set(this.#parts.map(({ url }) => url))]
    for (const [i, url] of urls.entries()) {
      try {
        return await connected(url, async (client) => (await client.query(text, values)).rows as [R, ...R[]])
      } catch (error) {
        if (i === urls.length - 1 || error instanceof pg.DatabaseError) throw error
      }
    }
    throw new Error('no node')
  }

  #look(migrating = false): Promise<void> {
    this.#looking ??= this.#lookNow(migrating).finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #lookNow(migrating: boolean): Promise<void> {
    await connected(this.#url, async (client) => {
      // It ends with the session. Who migrates lays everything himself when he is done.
      const { rows } = await client.query<{ free: boolean }>('select pg_try_advisory_lock_shared($1) as free', [
        MIGRATIONS,
      ])
      if (!migrating && !rows[0]!.free) throw Object.assign(new Error('a migration is under way'), { code: '55006' })
      await this.#read(client)
    })
  }

  async #read(client: pg.Client): Promise<void> {
    const placements = (await client.query<Placement>(PLACEMENTS)).rows
    const shared = placements.filter(({ desde }) => desde === null)
    const ranges = Map.groupBy(
      placements.filter(({ desde }) => desde !== null),
      ({ desde, hasta }) => `${desde} ${hasta}`,
    )
    const numbered = await number(
      client,
      [...ranges.values()].map((tables) => tables[0]!),
    )
    const { version } = (await client.query<{ version: string }>(VERSION)).rows[0]!
    const parts = numbered.flatMap((one): Part[] => {
      const tables = ranges.get(`${one.desde} ${one.hasta}`)
      return tables ? [partOf(this.#url, one, tables, numbered)] : []
    })
    const missing = new Map<number, unknown>()
    await Promise.all(
      [...Map.groupBy(parts, ({ url }) => url)].map(async ([url, there]) => {
        const lays = there.map((part) => ({
          part,
          nobody: numbered.find(({ numero }) => numero === part.number)!.nadie,
          tables: [
            ...ranges.get(`${part.from} ${part.to}`)!,
            ...shared.filter(({ nodename, nodeport }) => urlOf(this.#url, nodename, nodeport) === url),
          ],
        }))
        try {
          await connected(url, (machine) => laid(machine, version, lays))
        } catch (error) {
          for (const { number } of there) missing.set(number, error)
        }
      }),
    )
    this.#numbered = numbered
    this.#missing = missing
    this.#parts = parts.toSorted((a, b) => a.from - b.from)
  }
}

/** Of a part that was split Citus says that there is no such shard, as an internal error. */
const hasMoved = (error: unknown) =>
  MOVED.has(String((error as { code?: unknown }).code)) ||
  (error instanceof pg.DatabaseError && /could not find valid entry for shard/.test(error.message))

/** What whoever asked is told of a part that moves for too long: to come again (SQLSTATE 57P03). */
const notNow = (cause: unknown) =>
  Object.assign(new Error('a part of the data is moving', { cause }), { code: '57P03' })

async function connected<T>(url: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: 600_000,
    application_name: 'guias partes',
    options: '-c citus.enable_ddl_propagation=off -c citus.enable_manual_changes_to_shards=on',
  })
  client.on('error', () => {}) // a lost connection also rejects the query under way
  try {
    await client.connect()
    return await act(client)
  } finally {
    await client.end().catch(() => {})
  }
}

function urlOf(coordinator: string, name: string, port: number): string {
  const url = new URL(coordinator)
  url.hostname = name
  url.port = `${port}`
  return url.href
}

function partOf(
  coordinator: string,
  { numero, desde, hasta, era }: Numbered,
  tables: Placement[],
  all: readonly Numbered[],
): Part {
  const { nodename, nodeport } = tables[0]!
  return {
    number: numero,
    from: desde,
    to: hasta,
    era,
    schema: `p${numero}_${era}`,
    shard: tables.find(({ tabla }) => tabla === 'guia')!.shardid,
    url: urlOf(coordinator, nodename, nodeport),
    letter: letterOf(desde, hasta, all),
  }
}

/** The character of a range: its number's, or, where there are no more characters, the narrowest's that holds it. */
function letterOf(from: number, to: number, all: readonly Numbered[]): string {
  const holders = all.filter(({ numero, desde, hasta }) => numero <= ALFABETO.length && desde <= from && hasta >= to)
  const [narrowest] = holders.toSorted((a, b) => a.hasta - a.desde - (b.hasta - b.desde) || b.numero - a.numero)
  return ALFABETO[narrowest!.numero - 1]!
}

/**
 * Gives each range its number, and a part that has come to another machine its next era: numbers of transactions are a
 * machine's own, and with the era ahead of them what is written there comes after all that was written elsewhere.
 */
async function number(client: pg.Client, ranges: readonly Placement[]): Promise<Numbered[]> {
  const stored = (await client.query<Numbered>(NUMBERED)).rows
  const asStored = ({ desde, hasta, nodo }: Placement) =>
    stored.some((one) => one.desde === desde && one.hasta === hasta && one.nodo === nodo)
  if (ranges.every(asStored)) return stored
  await client.query('begin; lock table parte in share row exclusive mode')
  const rows = (await client.query<Numbered>(NUMBERED)).rows
  for (const { desde, hasta, nodo } of ranges.toSorted((a, b) => a.desde! - b.desde!)) {
    const own = rows.find((one) => one.desde === desde && one.hasta === hasta)
    if (own?.nodo === nodo) continue
    if (own) {
      Object.assign(own, { era: own.era + 1, nodo })
      await client.query('update parte set era = $2, nodo = $3 where numero = $1', [own.numero, own.era, nodo])
    } else rows.push(await numberAnew(client, rows, { desde: desde!, hasta: hasta!, nodo }))
  }
  await client.query('commit')
  return rows
}

async function numberAnew(
  client: pg.Client,
  rows: readonly Numbered[],
  range: Pick<Numbered, 'desde' | 'hasta' | 'nodo'>,
): Promise<Numbered> {
  const { desde, hasta, nodo } = range
  const numero = Math.max(0, ...rows.map((one) => one.numero)) + 1
  // Of parts that were split or merged to make it, the latest.
  const before = rows.filter((one) => one.desde <= hasta && one.hasta >= desde)
  const era = Math.max(0, ...before.map((one) => one.era)) + 1
  let nadie: string | undefined
  for (let n = 0; nadie === undefined; n++) {
    if (n === 1_000) throw new ClusterError('Hay partes de Citus demasiado pequeñas: júntelas o reparta de nuevo.')
    nadie = (await client.query<{ id: string }>(NOBODY, [desde, hasta])).rows[0]?.id
  }
  await client.query('insert into parte (numero, desde, hasta, era, nodo, nadie) values ($1, $2, $3, $4, $5, $6)', [
    ...[numero, desde, hasta, era, nodo, nadie],
  ])
  const letter = ALFABETO[numero - 1]
  if (letter) await client.query(TAKE_CODES, [desde, hasta, nadie, letter])
  return { numero, desde, hasta, era, nodo, nadie }
}
