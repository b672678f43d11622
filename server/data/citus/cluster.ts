import pg from 'pg'
import { ALPHABET } from '../../platform/codes/guideCode.ts'
import type { Part, Place, Placements } from '../parts.ts'
import { createPartSchemas, type Placement } from './partViews.ts'

// Parts of merchants' rows on Citus, and connections to the machines that have them, without the coordinator. A part is
// what Citus calls the colocated shards of one range. On its machine, a part has a schema `p<number>_<era>` with a view
// of each shard under the table's own name. A session with this schema in `search_path` works like a session of a
// PostgreSQL without Citus. Citus does not plan statements that name no distributed table: PostgreSQL plans them itself
// and keeps the plan.

/** Row of the table `parte`. */
interface Numbered {
  numero: number
  desde: number
  hasta: number
  era: number
  nodo: number
  nadie: string
}

const PLACEMENTS = `select c.relname as table, s.shardid::text, n.groupid as nodo, n.nodename, n.nodeport,
    s.shardminvalue::int as desde, s.shardmaxvalue::int as hasta
  from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid join pg_dist_shard s using (logicalrelid)
  join pg_dist_placement using (shardid) join pg_dist_node n using (groupid)
  where n.noderole = 'primary' and c.relnamespace = 'public'::regnamespace
    and (p.partmethod = 'n' and p.repmodel = 't' or p.partmethod = 'h' and p.colocationid =
      (select colocationid from pg_dist_partition where logicalrelid = to_regclass('public.guia')))`

const NUMBERED = 'select numero, desde, hasta, era, nodo, nadie from parte order by numero'

/** SQL that reads the last applied migration. The views of the parts show the tables' columns as of that migration. */
const VERSION = `select coalesce(max(migration_name), '') as version from _prisma_migrations where finished_at is not null`

/**
 * Query for a UUID whose hash lies in the range. The UUID belongs to no merchant; it places rows without a merchant in
 * the part.
 */
const NOBODY = `select id from (select gen_random_uuid() as id from generate_series(1, 1000)) x
  where worker_hash(id) between $1 and $2 limit 1`

/**
 * Reserves the codes of guides that were created before a code's first character named its part. New guides of the part
 * then never get one of these codes.
 */
const TAKE_CODES = `insert into guia_indice (guia, comercio_id, modo, id)
  select clave, $3::uuid, 'live', '00000000-0000-0000-0000-000000000000' from dueno
  where length(clave) = 12 and left(clave, 1) = $4 and worker_hash(comercio_id) not between $1 and $2
  on conflict do nothing`

/**
 * Advisory lock that a migrating process holds. Meanwhile other processes create no schemas, because the migration
 * drops them.
 */
const MIGRATIONS = 72_707_369

/**
 * SQLSTATEs that mean the part has moved (55006), or its view (42P01), schema (3F000) or function (42883) does not
 * exist yet.
 */
const MOVED = new Set(['55006', '42P01', '3F000', '42883'])

/**
 * Error when this process knows no part for a merchant or part number. It has SQLSTATE 55006, so that the caller reads
 * the cluster again and retries.
 */
const noSuchPart = () => Object.assign(new Error('no part of the cluster holds this place'), { code: '55006' })
/**
 * `PATIENCE`: time for which a statement waits for a part that moves to another machine. `REST`: pause between two
 * attempts. Both in milliseconds.
 */
const PATIENCE = 6_000
const REST = 50
/** Minimum interval between two checks of unreachable machines, in milliseconds. */
const PAUSE = 1_000
/** Maximum number of merchants whose hash is cached. */
const REMEMBERED = 200_000

/** Error: the distributed rows cannot be used. The message, in Spanish, addresses the operator. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError'
}

/** Parts of a cluster's tables as one process knows them, and the part of each merchant. */
export class Cluster implements Placements {
  readonly settings = {
    /**
     * Citus passes a transaction's `set local` on to the workers, because they also need to know the visible merchants.
     */
    'citus.propagate_set_commands': 'local',
    /**
     * A query over all machines uses one connection to each. With Citus's default of sixteen to each, a few processes
     * would take all connections that the workers accept.
     */
    'citus.max_adaptive_executor_pool_size': '1',
  }
  /**
   * Every commit waits for the disk, because a shard that moves to another machine takes along only what is on the
   * disk.
   */
  readonly machineSettings = { synchronous_commit: 'on' }
  readonly #url: string
  #parts: readonly Part[] = []
  #numbered: readonly Numbered[] = []
  /** Parts whose machine could not be reached at the last check, with the error. */
  #missing = new Map<number, unknown>()
  readonly #hashes = new Map<string, number>()
  #looking: Promise<void> | undefined
  #looked = Number.NEGATIVE_INFINITY

  private constructor(url: string) {
    this.#url = url
  }

  /**
   * Opens a cluster and reads on which machines its parts lie.
   * @param migrating true if the caller holds the lock of the migrations
   */
  static async open(url: string, migrating = false): Promise<Cluster> {
    const cluster = new Cluster(url)
    await cluster.#look(migrating)
    return cluster
  }

  parts(): readonly Part[] {
    return this.#parts
  }

  /** Numbers of the parts that may have the guide with this code; empty if the code names no part. */
  named(code: string): readonly number[] {
    const one = this.#numbered.find(({ numero }) => numero === ALPHABET.indexOf(code[0]!) + 1)
    if (!one || code.length !== 12) return []
    return this.#parts.filter(({ from, to }) => from <= one.hasta && to >= one.desde).map(({ number }) => number)
  }

  /**
   * Finds the part of a merchant, or the part with a given number.
   * @throws if the part does not exist, or if its machine could not be reached
   */
  async find(place: Place): Promise<Part> {
    const part =
      'part' in place
        ? this.#parts.find(({ number }) => number === place.part)
        : this.#holderOf(await this.#hash(place.merchant))
    if (!part) throw noSuchPart()
    if (this.#missing.has(part.number)) {
      this.#lookSometime()
      throw this.#missing.get(part.number)
    }
    return part
  }

  async number(merchant: string): Promise<number> {
    const part = this.#holderOf(await this.#hash(merchant))
    if (!part) throw noSuchPart()
    return part.number
  }

  known(merchant: string): number | undefined {
    const hash = this.#hashes.get(merchant)
    return hash === undefined ? undefined : this.#holderOf(hash)?.number
  }

  /**
   * Runs `act` in a part. If the part moves meanwhile, runs `act` again on the new machine.
   * @throws an error with SQLSTATE 57P03 if the part moves for more than 6 seconds or no longer exists
   */
  async follow<T>(place: Place, act: (part: Part) => Promise<T>): Promise<T> {
    for (const end = performance.now() + PATIENCE; ; ) {
      try {
        return await act(await this.find(place))
      } catch (error) {
        // A machine that cannot be reached may have been replaced; a later request then finds the new one.
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

  /**
   * Reports whether the part with a number no longer exists, because it was split or merged into parts with other
   * numbers.
   */
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

  /** Queries the coordinator. If it cannot be reached, queries the machines until one answers. */
  async #anywhere<R>(text: string, values: unknown[]): Promise<[R, ...R[]]> {
    const urls = [this.#url, ...new Set(this.#parts.map(({ url }) => url))]
    for (const [i, url] of urls.entries()) {
      try {
        return await connected(url, async (client) => (await client.query(text, values)).rows as [R, ...R[]])
      } catch (error) {
        if (i === urls.length - 1 || error instanceof pg.DatabaseError) throw error
      }
    }
    throw new Error('no node can be reached')
  }

  #look(migrating = false): Promise<void> {
    this.#looking ??= this.#lookNow(migrating).finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #lookNow(migrating: boolean): Promise<void> {
    await connected(this.#url, async (client) => {
      // If another process migrates, it prepares all schemas itself. The lock is released when this session ends.
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
          await connected(url, (machine) => createPartSchemas(machine, version, lays))
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

/**
 * Reports whether an error means that the part has moved. For a part that was split, Citus reports an internal error:
 * the shard does not exist.
 */
const hasMoved = (error: unknown) =>
  MOVED.has(String((error as { code?: unknown }).code)) ||
  (error instanceof pg.DatabaseError && /could not find valid entry for shard/.test(error.message))

/**
 * Error for a statement whose merchant's rows are still moving to another machine after the longest wait. SQLSTATE
 * 57P03 means that the caller may try again later.
 */
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
  client.on('error', () => {}) // A lost connection also rejects the running query, which reports the error.
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
    shard: tables.find(({ table }) => table === 'guia')!.shardid,
    url: urlOf(coordinator, nodename, nodeport),
    letter: letterOf(desde, hasta, all),
  }
}

/**
 * Returns the first character of guide codes for a range: the character of the range's number. When no characters are
 * left, returns the character of the narrowest stored range that contains it.
 */
function letterOf(from: number, to: number, all: readonly Numbered[]): string {
  const holders = all.filter(({ numero, desde, hasta }) => numero <= ALPHABET.length && desde <= from && hasta >= to)
  const [narrowest] = holders.toSorted((a, b) => a.hasta - a.desde - (b.hasta - b.desde) || b.numero - a.numero)
  return ALPHABET[narrowest!.numero - 1]!
}

/**
 * Numbers each new range, and increments the era of a part that has moved to another machine. Each machine numbers its
 * transactions independently, so events are ordered by era first. Events on the new machine then come after all earlier
 * ones.
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
  // The new part starts after the latest era of the parts that were split or merged into it.
  const before = rows.filter((one) => one.desde <= hasta && one.hasta >= desde)
  const era = Math.max(0, ...before.map((one) => one.era)) + 1
  let nadie: string | undefined
  for (let n = 0; nadie === undefined; n++) {
    if (n === 1_000) throw new ClusterError('Hay partes de Citus demasiado pequeñas: júntelas o reparta de nuevo.')
    nadie = (await client.query<{ id: string }>(NOBODY, [desde, hasta])).rows[0]?.id
  }
  await client.query('insert into parte (numero, desde, hasta, era, nodo, nadie) values ($1, $2, $3, $4, $5, $6)', [
    numero,
    desde,
    hasta,
    era,
    nodo,
    nadie,
  ])
  const letter = ALPHABET[numero - 1]
  if (letter) await client.query(TAKE_CODES, [desde, hasta, nadie, letter])
  return { numero, desde, hasta, era, nodo, nadie }
}
