import type pg from 'pg'
import type { PrismaClient } from '../generated/contract/prisma/client.ts'
import { Problema } from '../platform/errors.ts'
import { currentSpan, inSpan } from '../platform/tracing.ts'
import { type ConnectionOptions, Connections, isFullDisk, statementName } from './connections.ts'
import type { Part, Place } from './parts.ts'
import { forPrisma } from './prismaPool.ts'
import { inScope, type PlanChoice, type QueryOrigin, type Role, type RowScope } from './scope.ts'

/**
 * Rows that a statement is about. On Citus, merchants' rows lie in several databases (parts), and this value decides
 * where the statement runs:
 *
 * - `merchant`: rows of the merchant in the parameter `comercio_id`; it runs in that merchant's part.
 * - `part`: rows of several merchants of one part; it runs in the part that the given {@link Db} has chosen.
 * - `central`: rows of all merchants, or rows that belong to no merchant; it runs in the central database.
 * - `anywhere`: any rows; it runs where the given {@link Db} is.
 */
export type StatementReach = 'merchant' | 'part' | 'central' | 'anywhere'

/** Reaches of a statement with these parameters: only one with a merchant's id finds the merchant's part by itself. */
type ReachWith<Params> = Params extends { comercio_id: string } ? StatementReach : Exclude<StatementReach, 'merchant'>

/** SQL statement with its parameters. */
export interface Statement<Params = object, Row = object> {
  /**
   * Name under which each connection prepares the statement. Without a name PostgreSQL parses and plans the statement
   * each time.
   */
  readonly name: string | undefined
  /** SQL with `$1`, `$2`… in place of the source's named parameters. */
  readonly text: string
  /** Names of the parameters, in the order of their numbers. */
  readonly parameters: readonly string[]
  readonly reach: StatementReach
  readonly plan?: PlanChoice | undefined
  /** Types of the parameters and of a row. They exist only for the compiler. */
  readonly tipos?: (parameters: Params) => Row
}

/**
 * Row with the types of Prisma's model of its table. `Refined` narrows columns whose type PostgreSQL cannot express:
 * the allowed words of a text, or the structure of a JSON value.
 */
export type RowOf<Model, Refined extends { [C in keyof Refined]: C extends keyof Model ? unknown : never }> = Omit<
  Model,
  keyof Refined
> &
  Refined

/** Row as JSON represents it: timestamps are strings. */
export type InJson<Row> = {
  [C in keyof Row]: Row[C] extends Date ? string : Row[C] extends Date | null ? string | null : Row[C]
}

/**
 * SQL list of columns in which timestamps (names that end in `_en`) are texts, as in {@link InJson}. Timestamps that
 * are only shown need no Date.
 * @param de prefix of the columns, such as `g.`
 */
export const withTexts = (columns: readonly string[], de = '') =>
  columns.map((c) => (c.endsWith('_en') ? `${de}${c}::text as ${c}` : `${de}${c}`)).join(', ')

type Models = Omit<PrismaClient, `$${string}`>

/** Values by parameter name; none for a statement without parameters. */
type StatementValues<Params> = keyof Params extends never ? [] : [valores: NoInfer<Params>]

/** Runs a statement and returns its rows. */
export type Query = <Params, Row>(
  sqlStatement: Statement<Params, Row>,
  ...valuesByName: StatementValues<Params>
) => Promise<Row[]>

/**
 * Database. Prisma serves queries that take one call of its client. `query` serves the hot paths, and queries that
 * Prisma cannot express: several writes in one statement, xid8. Each `Statement` stands beside the operation that needs
 * it.
 */
export interface Db {
  /**
   * Prisma's models. The client loads at the first call of a method, because loading takes time and the hot paths do
   * not need it.
   */
  readonly prisma: Models
  readonly pool: Connections
  readonly query: Query
  /** Role of the statements, and merchants whose rows they see. Undefined: the role with which the pool connects. */
  readonly scope?: RowScope | undefined
  /**
   * Database (part of a Citus cluster) in which statements about the rows of one part run. Undefined: each statement
   * runs in the part of the merchant that it names.
   */
  readonly place?: Place | undefined
  /**
   * Returns the same database, but its statements run with this role. The role `guias_api` sees only the rows of the
   * given merchants.
   */
  asRole(role: Role, comercios?: readonly string[]): Db
  /**
   * Returns the same database, but its statements run in the part that has this merchant's rows. On Citus that part
   * also has rows of other merchants.
   */
  forComercio(comercio_id: string): Db
  /** Returns the same database, but its statements run in the part with this number. */
  inPart(number: number): Db
  /** The same database without a chosen part, for rows that belong to no merchant. */
  readonly central: Db
  /** Returns one database object per part of a Citus cluster; a single one if one machine has all rows. */
  parts(): readonly Db[]
  close(): Promise<void>
}

/**
 * Reports whether merchants' rows lie in several databases (Citus). Some of them may be unreachable while others work.
 */
export const isDistributed = ({ pool }: Pick<Db, 'pool'>): boolean => pool.placements !== undefined

/**
 * Runs statements on one connection as one transaction: all of them take effect, or none.
 * @param work runs again from its beginning if a migration changed tables meanwhile (`Connections.afterMigration`)
 */
export const inTransaction = <T>(
  { pool, scope, place }: Pick<Db, 'pool' | 'scope' | 'place'>,
  work: InTransaction<T>,
): Promise<T> =>
  pool.atPlace(place, (connections, part) =>
    connections.afterMigration(() => runTransaction(connections, part, scope, work)),
  )

type InTransaction<T> = (query: Query, client: pg.PoolClient) => Promise<T>

async function runTransaction<T>(
  connections: Connections,
  part: Part | undefined,
  scope: RowScope | undefined,
  work: InTransaction<T>,
): Promise<T> {
  const client = await connections.connect()
  try {
    await client.query(connections.begin(scope, part))
    const result = await work(async (sqlStatement, ...[valuesByName]) => {
      if (part && sqlStatement.reach === 'central')
        throw new Error(`${sqlStatement.name} is not about rows of one part`)
      const config = connections.call(scope, configOf(sqlStatement, valuesByName), part)
      return (await traced(sqlStatement, () => client.query(config))).rows
    }, client)
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    client.release(!(await rolledBack(client, error)))
    throw error
  }
}

/**
 * Rolls back a failed transaction whose connection is still usable: the code rejected the work, or the disk was full
 * ({@link isFullDisk}).
 * @returns false if the connection must be closed instead, which also ends the transaction
 */
async function rolledBack(client: pg.PoolClient, error: unknown): Promise<boolean> {
  if (!(error instanceof Problema || isFullDisk(error))) return false
  try {
    await client.query('rollback')
    return true
  } catch {
    return false
  }
}

/** Pattern of a parameter `:name`. It matches neither `::type` nor a colon behind a letter. */
const PARAMETER = /(?<![:\w]):([a-z]\w*)/g

/** All statements of the process whose text is fixed, by name. */
export const STATEMENTS = new Map<string, Statement>()

interface StatementOptions {
  /**
   * Way in which PostgreSQL plans the statement. Default: its own choice.
   *
   * Without `generic` PostgreSQL plans a list anew for each request. A generic plan assumes that a `limit` parameter
   * takes a tenth of the rows, so PostgreSQL considers it expensive and never chooses it. A page of events then costs
   * twice as much. Use `generic` only for statements whose rows one index gives in order, with any parameters:
   * `test/db/plans.test.ts` checks this.
   *
   * Without `ordered` PostgreSQL may read and sort all rows of a merchant to find the first of them. It expects too few
   * rows of a big merchant, because row-level security repeats the condition on the merchant. Use `ordered` only for
   * statements whose `order by` is the order of an index: `test/db/filters.test.ts` checks this.
   */
  plan?: PlanChoice
}

/**
 * Makes a statement with a fixed text. Replaces its named parameters (`:comercio_id`) with `$1`, `$2`…
 * `test/db/statements.test.ts` checks the declared types against PostgreSQL's.
 * @throws if another statement has the same name
 */
export function statement<Params = object, Row = object>(
  name: string,
  reach: ReachWith<Params>,
  sql: string,
  options: StatementOptions = {},
): Statement<Params, Row> {
  if (STATEMENTS.has(name)) throw new Error(`two statements have the name ${name}`)
  const madeStatement = { name, reach, ...numberParameters(sql), ...options }
  STATEMENTS.set(name, madeStatement)
  return madeStatement
}

function numberParameters(sql: string): Pick<Statement, 'text' | 'parameters'> {
  const parameters: string[] = []
  const text = sql.replace(PARAMETER, (_match, name: string) => {
    if (!parameters.includes(name)) parameters.push(name)
    return `$${parameters.indexOf(name) + 1}`
  })
  return { text, parameters }
}

/**
 * Makes a statement whose text depends on the request. A connection keeps each prepared text in memory as long as the
 * connection lives. For example, 768 variants of the list of guides took 292 MB in one connection. Only the common
 * texts are therefore prepared.
 * @param isCommon true if this text is one of the few common ones
 */
export const dynamicStatement = <Params = object, Row = object>(
  reach: ReachWith<Params>,
  sql: string,
  isCommon: boolean,
  options: StatementOptions = {},
): Statement<Params, Row> => ({
  reach,
  name: isCommon ? statementName(sql) : undefined,
  ...numberParameters(sql),
  ...options,
})

type WrittenStatement = Pick<Statement, 'name' | 'text' | 'parameters' | 'reach'>

const configOf = ({ name, text, parameters }: WrittenStatement, valuesByName: unknown): pg.QueryConfig => {
  const values = parameters.map((name) => (valuesByName as Readonly<Record<string, unknown>>)[name])
  return name === undefined ? { text, values } : { name, text, values }
}

/**
 * Finds where a statement runs. A part that the database has chosen goes before the merchant's own.
 * @throws if the statement is about the rows of a part, and the database has chosen none
 */
function placeOf(
  { name, reach }: WrittenStatement,
  valuesByName: unknown,
  place: Place | undefined,
): Place | undefined {
  if (reach === 'central') return undefined
  if (reach === 'merchant') return place ?? { merchant: (valuesByName as { comercio_id: string }).comercio_id }
  if (reach === 'part' && !place) throw new Error(`statement ${name} needs a database of a part`)
  return place
}

/**
 * Runs a statement, and records it as a span of the current request's or job's trace. Without a current trace, records
 * nothing.
 */
const traced = <T>({ name = 'dynamic' }: WrittenStatement, run: () => Promise<T>): Promise<T> =>
  currentSpan()
    ? inSpan(name, { kind: 'client', attributes: { 'db.system.name': 'postgresql', 'db.query.summary': name } }, run)
    : run()

/** Makes a function that runs statements with this role and these visible merchants, where their rows lie. */
export const queryWith =
  (connections: Connections, { scope, place }: QueryOrigin = {}): Query =>
  async (sqlStatement, ...[valuesByName]) => {
    const where = connections.placements ? placeOf(sqlStatement, valuesByName, place) : undefined
    const config = configOf(sqlStatement, valuesByName)
    return (
      await traced(sqlStatement, () => connections.queryScoped({ scope, place: where }, config, sqlStatement.plan))
    ).rows
  }

/** Options of {@link openDb}. */
export interface DbOptions extends ConnectionOptions {
  /**
   * Maximum connections of this process. Default: 8. Measured: 16 connections are no faster than 8, and 4 lose a third
   * of the throughput.
   */
  connections?: number
  /** Value of `application_name` for the sessions, to which the process's pid is added. */
  nombre?: string
  /** Called with the error of an idle connection, which belongs to no request. */
  onFailure?: (error: Error) => void
}

/** Opens a pool of connections to the database. Prisma's client loads only at its first use. */
export function openDb(url: string, options: DbOptions = {}): Db {
  const { connections = 8, nombre = 'guias', onFailure = () => {}, ...sesiones } = options
  const pool = new Connections(url, connections, `${nombre} pid=${process.pid}`, sesiones)
  pool.on('error', onFailure)
  return new OpenDb(pool, new LazyPrismaClient(pool), {})
}

/** Prisma's client, loaded at its first use. */
class LazyPrismaClient {
  readonly #pool: Connections
  #client: Promise<PrismaClient> | undefined

  constructor(pool: Connections) {
    this.#pool = pool
  }

  readonly load = (): Promise<PrismaClient> => {
    this.#client ??= loadPrisma(this.#pool)
    return this.#client
  }

  async close(): Promise<void> {
    await (await this.#client)?.$disconnect()
  }
}

class OpenDb implements Db {
  readonly pool: Connections
  readonly scope: RowScope | undefined
  readonly place: Place | undefined
  readonly query: Query
  readonly #client: LazyPrismaClient

  constructor(pool: Connections, client: LazyPrismaClient, { scope, place }: QueryOrigin) {
    this.pool = pool
    this.scope = scope
    this.place = place
    this.query = queryWith(pool, { scope, place })
    this.#client = client
  }

  get prisma(): Models {
    return lazyModels(this.#client.load, this)
  }

  asRole(role: Role, comercios: readonly string[] = []): Db {
    return this.#at({ role, comercios }, this.place)
  }

  forComercio(comercio_id: string): Db {
    return this.pool.placements ? this.#at(this.scope, { merchant: comercio_id }) : this
  }

  inPart(number: number): Db {
    return this.#at(this.scope, { part: number })
  }

  get central(): Db {
    return this.place ? this.#at(this.scope, undefined) : this
  }

  parts(): readonly Db[] {
    return this.pool.placements?.parts().map(({ number }) => this.inPart(number)) ?? [this]
  }

  async close(): Promise<void> {
    await this.#client.close()
    await this.pool.end()
  }

  #at(scope: RowScope | undefined, place: Place | undefined): Db {
    return new OpenDb(this.pool, this.#client, { scope, place })
  }
}

type ModelMethods = Record<string, (...args: unknown[]) => unknown>

/** Proxy for calls of `prisma.model.method(…)`: each call first waits until the client has loaded. */
const lazyModels = (load: () => Promise<PrismaClient>, from: QueryOrigin): Models =>
  new Proxy({} as Models, {
    get: (_target, model: string) =>
      new Proxy({} as ModelMethods, {
        get:
          (_target, method: string) =>
          async (...args: unknown[]) => {
            const client = (await load()) as unknown as Record<string, ModelMethods>
            return inScope(from, async () => client[model]![method]!(...args))
          },
      }),
  })

async function loadPrisma(pool: Connections): Promise<PrismaClient> {
  const [{ PrismaPg }, { PrismaClient: GeneratedClient }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('../generated/contract/prisma/client.ts'),
  ])
  // Names are made for Prisma's statements, because PostgreSQL keeps no prepared statement without a name.
  const adapter = new PrismaPg(forPrisma(pool), { statementNameGenerator: ({ sql }) => statementName(sql) })
  // Prisma's long messages quote the arguments, which must not be in a log.
  return new GeneratedClient({ errorFormat: 'minimal', adapter })
}
