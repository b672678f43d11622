import pg from 'pg'
import type { Connections } from '../data/connections.ts'
import type { Health } from '../domain/deps.ts'
import { isServerFault } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'

/** Milliseconds for which a result is reused. The database is therefore checked at most once per second. */
const RESULT_TTL_MS = 1_000
/** Milliseconds that the database may take, including the time to connect. */
const PROBE_DEADLINE_MS = 3_000
/** Milliseconds for which the connection stays open without a check. */
const IDLE_MS = 30_000

/**
 * Transaction that needs what every write needs, and leaves nothing behind. It writes 56 KB to a temporary file, which
 * a full disk refuses. It locks a row, which a read-only server refuses, and its commit waits for the disk.
 * `skip locked` lets each process lock another row, so that no process waits for the others. PostgreSQL takes 0.7 ms
 * for the whole transaction.
 */
const PRUEBA = `begin;
  set local role none;
  set local statement_timeout = ${PROBE_DEADLINE_MS};
  set local work_mem = '64kB';
  set local temp_tablespaces = '';
  select count(*) from generate_series(1, 4000);
  select 1 from _prisma_migrations limit 1 for update skip locked;
  commit`

type ProbeResult = Pick<Health, 'base_de_datos' | 'escritura'>

const HEALTHY: ProbeResult = { base_de_datos: true, escritura: true }
const NO_WRITES: ProbeResult = { base_de_datos: true, escritura: false }
const NO_DATABASE: ProbeResult = { base_de_datos: false, escritura: false }

interface ProbeConnection {
  client: pg.Client
  /** Time at which the connection attempt began, in milliseconds of `performance.now()`. */
  desde: number
  ready: Promise<unknown>
}

/**
 * Checks on request whether the database accepts writes. The probe has a connection of its own, so that a full pool or
 * a slow statement does not delay it. Without requests the probe does nothing and holds no connection.
 */
export class Probe {
  readonly #url: string
  readonly #pools: readonly Connections[]
  readonly #log: Log
  #connection: ProbeConnection | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #result: ProbeResult | undefined
  #checkedAt = Number.NEGATIVE_INFINITY
  #currentCheck: Promise<ProbeResult> | undefined
  #isClosed = false

  /**
   * @param url the address that requests use: a pooler's, if a pooler stands before the database
   * @param pools connection pools of requests, whose servers may refuse what the probe's server accepts
   */
  constructor(url: string, pools: readonly Connections[], log: Log) {
    this.#url = url
    this.#pools = pools
    this.#log = log
  }

  /**
   * Returns a result of the last second, or a new one. A refusal that a pool has seen since also causes a new check.
   */
  look(): Promise<ProbeResult> {
    if (this.#result && performance.now() - this.#checkedAt < RESULT_TTL_MS && !this.#wasRejectedSince(this.#checkedAt))
      return Promise.resolve(this.#result)
    this.#currentCheck ??= this.#check().finally(() => {
      this.#currentCheck = undefined
    })
    return this.#currentCheck
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#release()
    await this.#currentCheck
  }

  #wasRejectedSince(from: number): boolean {
    return this.#pools.some(({ rejectedAt }) => rejectedAt > from)
  }

  async #check(): Promise<ProbeResult> {
    if (this.#isClosed) return NO_DATABASE
    this.#checkedAt = performance.now()
    // A new connection uses the database's present settings, and reaches the server to which the address resolves now.
    if (this.#connection && this.#wasRejectedSince(this.#connection.desde)) this.#release()
    const wasReused = this.#connection !== undefined
    const { promise: lateness, reject } = Promise.withResolvers<never>()
    // After a busy spell of the process, an answer may be there unread. `setImmediate` lets Node read it before the
    // deadline counts.
    const timer = setTimeout(
      () => setImmediate(reject, new Error('database did not answer in time')),
      PROBE_DEADLINE_MS,
    )
    try {
      let [result, err] = await this.#tryWrite(lateness)
      // An operator may have ended the connection of an earlier check, which says nothing about the server.
      if (result === NO_DATABASE && wasReused) [result, err] = await this.#tryWrite(lateness)
      return this.#note(result, err)
    } finally {
      clearTimeout(timer)
    }
  }

  async #tryWrite(lateness: Promise<never>): Promise<[resultado: ProbeResult, err?: unknown]> {
    let isConnected = false
    try {
      const where = await Promise.race([this.#connect(), lateness])
      isConnected = true
      await Promise.race([where.query(PRUEBA), lateness])
      return [HEALTHY]
    } catch (err) {
      this.#release()
      // SQLSTATE class 57P means that the server is going away, or that it ended this connection.
      const isAnswer = isConnected && err instanceof pg.DatabaseError && !err.code?.startsWith('57P')
      return [isAnswer ? NO_WRITES : NO_DATABASE, err]
    }
  }

  /**
   * Returns the probe's own connection. If the server lacks what a new connection needs, returns a pool of requests,
   * whose connections still work. For example, the server may have no free connection, or no disk space for the cache
   * file of a new one.
   */
  async #connect(): Promise<{ query(text: string): Promise<unknown> }> {
    const { client, ready } = this.#connection ?? this.#open()
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => this.#release(), IDLE_MS).unref()
    try {
      await ready
      return client
    } catch (err) {
      const [pool] = this.#pools
      if (!pool || !isServerFault((err as { code?: unknown }).code)) throw err
      this.#release()
      return pool
    }
  }

  #open(): ProbeConnection {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: `guias salud pid=${process.pid}`,
      connectionTimeoutMillis: PROBE_DEADLINE_MS,
      keepAlive: true,
    })
    client.on('error', () => {})
    client.on('end', () => {
      if (this.#connection?.client === client) this.#connection = undefined
    })
    this.#connection = { client, desde: performance.now(), ready: client.connect() }
    return this.#connection
  }

  #release(): void {
    clearTimeout(this.#idleTimer)
    void this.#connection?.client.end().catch(() => {})
    this.#connection = undefined
  }

  #note(result: ProbeResult, err?: unknown): ProbeResult {
    const before = this.#result?.escritura ?? true
    if (before && err && !this.#isClosed) this.#log.warn({ err }, 'database takes no writes')
    else if (!before && !err) this.#log.info('database takes writes again')
    this.#result = result
    return result
  }
}
