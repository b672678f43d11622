import pg from 'pg'
import type { Log } from '../../platform/log.ts'

/** Key of the advisory lock that every API process of this database holds in shared mode. */
const LOCK_KEY = [0x67756961, 1] as const
/** Maximum age of the count, in milliseconds, before it is taken again. */
const COUNT_TTL_MS = 1_000
/** Timeout of a connection attempt and of a query, in milliseconds. */
const DEADLINE_MS = 5_000

/**
 * Counts the API processes that share this database. Each process holds an advisory lock on a session of its own while
 * it lives. No process therefore has to write rows or clean up. Reads of {@link processes} refresh the count in the
 * background, at most once a second. A process without requests does nothing.
 */
export class Presence {
  readonly #url: string
  readonly #log: Log
  #client: pg.Client | undefined
  #countedAt = Number.NEGATIVE_INFINITY
  #counting: Promise<void> | undefined
  #isClosed = false
  #processCount = 1

  constructor(url: string, log: Log) {
    this.#url = url
    this.#log = log
  }

  /**
   * Number of API processes, at least 1. The value may be outdated; reading it starts a new count if it is older than a
   * second.
   */
  get processes(): number {
    if (performance.now() - this.#countedAt > COUNT_TTL_MS) this.count()
    return this.#processCount
  }

  /** Starts a count, or joins the count in progress. Never rejects: a failure is logged. */
  count(): Promise<void> {
    this.#countedAt = performance.now()
    this.#counting ??= this.#refreshCount()
      .catch((err: unknown) => {
        this.#log.warn({ err }, 'API process count failed')
        void this.#client?.end().catch(() => {})
        this.#client = undefined
      })
      .finally(() => {
        this.#counting = undefined
      })
    return this.#counting
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#counting
    await this.#client?.end().catch(() => {})
  }

  async #refreshCount(): Promise<void> {
    if (this.#isClosed) return
    this.#client ??= await this.#join()
    const { rows } = await this.#client.query<{ count: number }>({
      name: 'presencia.contar',
      text: `select count(*)::int as count from pg_locks l join pg_database d on d.oid = l.database
        where d.datname = current_database() and l.locktype = 'advisory' and l.classid = $1 and l.objid = $2 and l.granted`,
      values: [...LOCK_KEY],
    })
    this.#processCount = Math.max(1, rows[0]!.count)
  }

  async #join(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: `guias presencia pid=${process.pid}`,
      connectionTimeoutMillis: DEADLINE_MS,
      query_timeout: DEADLINE_MS,
      keepAlive: true,
    })
    client.on('error', () => {})
    client.on('end', () => {
      if (this.#client === client) this.#client = undefined
    })
    try {
      await client.connect()
      await client.query('select pg_advisory_lock_shared($1, $2)', [...LOCK_KEY])
      return client
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
  }
}
