import { hash } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { isServerFault } from '../platform/errors.ts'
import { MINUTE_MS } from '../platform/time/units.ts'
import type { Part, Place, Placements } from './parts.ts'
import type { PlanChoice, QueryOrigin, Role, RowScope } from './scope.ts'
import { PLANS, ScopedQuery, scopeStatement, scopeTransaction } from './scope.ts'

/**
 * True if a pooler in transaction mode (PgBouncer) stands before PostgreSQL. It runs each transaction in any free
 * session, so each transaction must set what it needs of the session.
 */
export interface Pooler {
  /** True if the pooler supports named prepared statements (PgBouncer since 1.21). */
  supportsNames: boolean
}

/** Options of a pool of connections ({@link Connections}). */
export interface ConnectionOptions {
  /** Role with which every session begins. */
  role?: Role | undefined
  /** Further settings of every session. */
  settings?: Readonly<Record<string, string>>
  /** Pooler before PostgreSQL; undefined if connections lead to PostgreSQL itself. */
  pooler?: Pooler | undefined
  /** Databases that hold the merchants' rows (Citus), called parts; undefined if one machine has all rows. */
  shards?: Placements | undefined
}

/** Options of connections to a machine that has parts, instead of the coordinator. */
type MachineOptions = ConnectionOptions & { inPart?: true }

const SESSION_SETTINGS = {
  /**
   * Forbids sequential scans, because every statement of the service finds its rows by an index. A statement prepared
   * while its table was small would read the whole table. It would still do so after the table grew, until ANALYZE
   * runs. With 100,000 new rows in `webhook_aviso`, storing the result of a delivery took five seconds.
   */
  enable_seqscan: 'off',
  /**
   * Forbids compilation of queries. Before PostgreSQL 18, a query that reads a small table whole looks so expensive
   * without sequential scans that PostgreSQL compiles it. With Debian's PostgreSQL 15, an empty table took 234 ms, and
   * 0.06 ms without compilation.
   */
  jit: 'off',
  /**
   * Timestamps come in UTC, wherever the database is. `iso` depends on it: it cuts an instant out of the timestamp's
   * text.
   */
  timezone: 'UTC',
  /**
   * Statement timeouts in milliseconds, so that no request holds a connection for ever. The server stops a long
   * statement; the client gives up on a server that no longer answers.
   */
  statement_timeout: '7000',
}

/**
 * Reports whether a statement failed because a migration has changed its columns since the connection prepared it. The
 * statement had no effect. The connection must be replaced, because it would refuse the statement each time.
 */
const isStalePlan = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery'

/** SQLSTATE of a full disk. */
const DISK_FULL = '53100'

/**
 * Reports whether a statement failed because the disk is full. The connection is kept, because it can still read. The
 * server may refuse new connections, which need to write a cache file.
 */
export const isFullDisk = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === DISK_FULL

/** Maximum connections of the pool whose sessions only wait for locks ({@link Connections.lockConnections}). */
const TURN_CONNECTIONS = 2

const namesByText = new Map<string, string>()

/** Returns a name for a prepared statement that was declared without one: the digest of its text. */
export function statementName(text: string): string {
  const name = namesByText.get(text) ?? hash('sha1', text)
  namesByText.set(text, name)
  return name
}

/** Maximum time for which the end of a pool waits until its connections are closed, in milliseconds. */
const CLOSE_DEADLINE_MS = 2_000

/**
 * Pool of connections to the database. Its statements run with a role and see the rows of given merchants ({@link
 * RowScope}).
 */
export class Connections extends pg.Pool {
  /** True if statements are prepared under names. */
  readonly named: boolean
  readonly placements: Placements | undefined
  /** Connection pools to the machines that hold merchants' rows, by the machine's address. */
  readonly #machines = new Map<string, Connections>()
  readonly #openMachine: (url: string) => Connections
  readonly #openTurns: () => Connections
  #turns: Connections | undefined
  /** Role and visible merchants when the caller passes none; undefined if the sessions already have the right role. */
  readonly #emptyScope: RowScope | undefined
  readonly #role: Role | undefined
  /**
   * Settings that each transaction sets. Empty without a pooler, because the session then has the settings from its
   * start.
   */
  readonly #settings: Readonly<Record<string, string>>
  /** SQL texts that set the scope (role and visible merchants), by the query plan of the statement that follows. */
  readonly #scopeTexts: ReadonlyMap<PlanChoice | undefined, string>
  /**
   * Connections whose server lacks what a statement needs: memory, connections or the permission to write ({@link
   * isServerFault}).
   */
  readonly #wornOut = new WeakSet<object>()
  readonly #openClients = new Set<EventEmitter>()
  /** Time of the last error of this kind, full disks included, in milliseconds of `performance.now()`. */
  rejectedAt = Number.NEGATIVE_INFINITY

  constructor(url: string, max: number, application_name: string, options: MachineOptions = {}) {
    const { role, pooler, shards, inPart } = options
    const settings = { ...SESSION_SETTINGS, ...shards?.settings, ...options.settings }
    const startSettings = Object.entries(role ? { ...settings, role } : settings)
    const supportsNames = pooler?.supportsNames !== false
    const transactionSettings = pooler ? settings : {}
    const scopeStatements = PLANS.map((plan) => scopeStatement(transactionSettings, { inPart, plan }))
    super({
      connectionString: url,
      max,
      application_name,
      ...(pooler ? {} : { options: startSettings.map(([name, value]) => `-c ${name}=${value}`).join(' ') }),
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: MINUTE_MS,
      keepAlive: true,
      query_timeout: 8_000,
      // Prepares the statements that set role and visible merchants before other statements.
      ...(supportsNames
        ? {
            onConnect: (client: pg.ClientBase) =>
              client.query(scopeStatements.map(({ name, text }) => `prepare ${name} as ${text}`).join('; ')),
          }
        : {}),
    })
    this.named = supportsNames
    this.placements = shards
    this.#openMachine = (machine) => {
      const connections = new Connections(machine, max, application_name, {
        role,
        settings: { ...options.settings, ...shards?.machineSettings },
        inPart: true,
      })
      connections.on('error', (error) => this.emit('error', error))
      return connections
    }
    this.#openTurns = () => {
      const connections = new Connections(url, TURN_CONNECTIONS, application_name, { role, pooler })
      connections.on('error', (error) => this.emit('error', error))
      return connections
    }
    this.#role = role
    this.#emptyScope = pooler && role ? { role, comercios: [] } : undefined
    this.#settings = transactionSettings
    this.#scopeTexts = new Map(PLANS.map((plan, i) => [plan, scopeStatements[i]!.text]))
    this.on('connect', (client) => {
      // A lost connection already fails its running statement. Without this listener, its 'error' event would also end
      // the process.
      client.on('error', () => {})
      this.#openClients.add(client)
      client.once('end', () => this.#openClients.delete(client))
      this.#watch(client)
    })
    // The server may have become a replica, which refuses all writes. A new connection finds the present primary.
    this.on('release', (_error, client) => void (this.#wornOut.has(client) && client.end()))
  }

  /**
   * Records errors of the server: it lacks disk, memory, connections or the permission to write. Covers statements of
   * the service, of pg-boss and of Prisma.
   */
  #watch(client: pg.PoolClient): void {
    const { connection } = client as unknown as { connection: EventEmitter }
    connection.on('errorMessage', ({ code }: pg.DatabaseError) => {
      if (!isServerFault(code)) return
      if (code !== DISK_FULL) this.#wornOut.add(client)
      this.rejectedAt = performance.now()
    })
  }

  /**
   * Runs a statement with a role and visible merchants, on the machine where its rows lie.
   * @param plan way in which PostgreSQL plans the statement; without effect if the statement has no scope
   */
  queryScoped({ scope, place }: QueryOrigin, config: pg.QueryConfig, plan?: PlanChoice): Promise<pg.QueryResult> {
    return this.atPlace(place, (connections, part) =>
      connections.afterMigration(() => connections.#askScoped(scope ?? this.#scopeOfNobody(part), config, plan, part)),
    )
  }

  #askScoped(
    caller: RowScope | undefined,
    config: pg.QueryConfig,
    plan: PlanChoice | undefined,
    parte: Part | undefined,
  ): Promise<pg.QueryResult> {
    if (!caller) return this.runOne(config)
    const call = this.call(caller, config, parte)
    const scopedQuery = new ScopedQuery(caller, call, {
      // A statement without a name is planned for its own parameters, so it cannot have a generic plan.
      plan: plan === 'generic' && call.name === undefined ? undefined : plan,
      unprepared: this.named ? undefined : this.#scopeTexts.get(plan),
      parte,
    })
    return this.runOne(scopedQuery as unknown as pg.QueryConfig)
  }

  /**
   * Runs a statement like `query`, but keeps a connection whose statement failed because of a full disk ({@link
   * isFullDisk}).
   */
  runOne(scopedQuery: pg.QueryConfig): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      this.connect((connectError, client, release) => {
        if (connectError || !client) return reject(connectError)
        client.query(scopedQuery, (error: Error | null, result) => {
          release(error !== null && !isFullDisk(error))
          return error ? reject(error) : resolve(result)
        })
      })
    })
  }

  /**
   * Role and visible merchants when the caller passes none. A statement in a part of Citus always needs them, because
   * the SQL that sets them also selects the part.
   */
  #scopeOfNobody(part: Part | undefined): RowScope | undefined {
    return part ? { role: this.#role ?? 'none', comercios: [] } : this.#emptyScope
  }

  /**
   * Runs `work` with the pool of the machine that has the rows of a place (a merchant or a part). Without a place, or
   * if one machine has all rows, `work` gets this pool.
   */
  atPlace<T>(
    place: Place | undefined,
    work: (connections: Connections, part: Part | undefined) => Promise<T>,
  ): Promise<T> {
    if (!place || !this.placements) return work(this, undefined)
    return this.placements.follow(place, (part) => work(this.#machine(part.url), part))
  }

  #machine(url: string): Connections {
    let machine = this.#machines.get(url)
    if (!machine) {
      machine = this.#openMachine(url)
      this.#machines.set(url, machine)
    }
    return machine
  }

  /**
   * Pool of connections that only wait for the locks of `inTurn` (data/turns.ts). They are separate from the
   * connections of other statements.
   */
  lockConnections(): Connections {
    this.#turns ??= this.#openTurns()
    return this.#turns
  }

  /** Closes all connections. Resolves once they are closed, or after {@link CLOSE_DEADLINE_MS}. */
  override async end(): Promise<void> {
    await Promise.all([...this.#machines.values(), this.#turns].map((connections) => connections?.end()))
    // The promise of pg's pool resolves while its connections still close.
    await super.end()
    const closed = Promise.all(
      [...this.#openClients].map((client) => new Promise((resolve) => void client.once('end', resolve))),
    )
    await Promise.race([closed, delay(CLOSE_DEADLINE_MS, undefined, { ref: false })])
  }

  /**
   * Runs work again if it failed because a migration changed tables after its statements were prepared, as when two
   * versions run side by side. The failing connection was already closed. In the worst case, each connection of the
   * pool fails once.
   */
  async afterMigration<T>(work: () => Promise<T>): Promise<T> {
    for (let attemptsLeft = this.options.max; attemptsLeft > 0; attemptsLeft--) {
      try {
        return await work()
      } catch (error) {
        if (!isStalePlan(error)) throw error
      }
    }
    return work()
  }

  /**
   * Adds the role and the part to a statement's name. PostgreSQL makes a plan for one role and one part, so each
   * combination needs a prepared statement of its own.
   */
  call(scope: RowScope | undefined, config: pg.QueryConfig, part?: Part): pg.QueryConfig {
    const { name, ...unnamedConfig } = config
    if (name === undefined || !this.named) return unnamedConfig
    if (!scope) return config
    return { ...config, name: `${part ? `${part.schema}.` : ''}${scope.role}.${name}` }
  }

  /** Returns the SQL that begins a transaction, and sets its role, visible merchants and part. */
  begin(scope: RowScope | undefined, part?: Part): string {
    return ['begin', ...this.#scopeSql(scope ?? this.#scopeOfNobody(part), part)].join('; ')
  }

  /**
   * Runs a statement of pg-boss. Statements with parameters are prepared, because pg-boss runs the same few again and
   * again. A text without parameters may contain several statements and is not prepared.
   */
  async run(text: string, values: unknown[] | undefined): Promise<pg.QueryResult> {
    if (values !== undefined && values.length > 0)
      return this.queryScoped({}, { name: statementName(text), text, values })
    const before = this.#scopeSql(undefined)
    const result: pg.QueryResult | pg.QueryResult[] = await this.query([...before, text].join('; '))
    const results = Array.isArray(result) ? result.slice(before.length) : [result]
    return (results.length === 1 ? results[0] : results) as pg.QueryResult
  }

  #scopeSql(scope: RowScope | undefined, part?: Part): string[] {
    return scopeTransaction(scope ?? this.#emptyScope, this.#settings, part)
  }
}
