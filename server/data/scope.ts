import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import type { Part, Place } from './parts.ts'

/**
 * PostgreSQL role of a statement, created by the first migration: a second barrier behind the statement's own
 * conditions. Requests of merchants run as `guias_api`, which sees only the rows of the merchants in the setting
 * `guias.comercios`. Requests of operators, couriers and recipients run as `guias_operacion`, and jobs as
 * `guias_trabajos`. `guias_lectura` is the role for sessions that only read.
 */
export type Role = 'guias_api' | 'guias_operacion' | 'guias_trabajos'

/** Role with which a statement runs, and the merchants whose rows it sees. Called the scope of the statement. */
export interface RowScope {
  /** `none` stands for the role with which the session signed in. */
  readonly role: Role | 'none'
  /** Ids of merchants; only `guias_api` uses them. */
  readonly comercios: readonly string[]
}

const UUID = /^[0-9a-f-]{36}$/

/**
 * Writes ids as an array literal of PostgreSQL, for the setting `guias.comercios`.
 * @throws if an id is not a UUID
 */
function toArrayLiteral(comercios: readonly string[]): string {
  if (!comercios.every((id) => UUID.test(id))) throw new Error('merchant id is not a UUID')
  return `{${comercios.join(',')}}`
}

/**
 * Ways in which PostgreSQL may plan a statement, instead of its own choice. `generic`: one plan for all parameters.
 * `ordered`: rows are read in the order of an index and never sorted, wherever an index has that order. `indexed`: one plan
 * for all parameters, in which an index finds the rows wherever one can.
 */
export type PlanChoice = 'generic' | 'ordered' | 'indexed'

/** Settings of a transaction by the plan of its statement. */
const PLAN_SETTINGS = {
  generic: { plan_cache_mode: 'force_generic_plan' },
  ordered: { enable_sort: 'off' },
  indexed: { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' },
} as const satisfies Record<PlanChoice, Readonly<Record<string, string>>>

/** Plans for which each session prepares a statement that sets the scope; undefined for PostgreSQL's own choice. */
export const PLANS: readonly (PlanChoice | undefined)[] = [undefined, 'generic', 'ordered', 'indexed']

/** Name of the prepared statement that sets the scope. */
const scopeName = (plan: PlanChoice | undefined) => (plan ? `acotar_${plan}` : 'acotar')

/**
 * Statement that goes before another statement in its transaction. It sets the role and the merchants whose rows are
 * visible.
 * @param settings settings that the session may not have
 * @param inPart true if the statement also names a part and keeps the part on its machine
 * @param plan plan of the next statement
 */
export function scopeStatement(
  settings: Readonly<Record<string, string>>,
  { inPart = false, plan }: { inPart?: boolean | undefined; plan?: PlanChoice | undefined },
): { name: string; text: string } {
  const allSettings = Object.entries({ ...settings, ...(plan && PLAN_SETTINGS[plan]) })
  const settingCalls = allSettings.map(([name, value]) => `set_config('${name}', '${value}', true)`)
  // `partes.tomar` comes before `search_path`: PostgreSQL plans a function's statements anew when the search path has
  // changed.
  const where = inPart ? ['partes.tomar($4)', "set_config('search_path', $3, true)"] : []
  const expressions = [
    "set_config('role', $1, true)",
    "set_config('guias.comercios', $2, true)",
    ...where,
    ...settingCalls,
  ]
  return { name: scopeName(plan), text: `select ${expressions.join(', ')}` }
}

/**
 * SQL that sets role, visible merchants and settings for the rest of a transaction. On Citus, also sets the part, the
 * schema with the merchants' rows.
 */
export function scopeTransaction(
  scope: RowScope | undefined,
  settings: Readonly<Record<string, string>>,
  part?: Part,
): string[] {
  const caller = scope ? { role: scope.role, 'guias.comercios': `'${toArrayLiteral(scope.comercios)}'` } : {}
  const where = part ? { search_path: part.schema } : {}
  return [
    ...(part ? [`select partes.tomar(${part.shard})`] : []),
    ...Object.entries({ ...settings, ...caller, ...where }).map(([name, value]) => `set local ${name} = ${value}`),
  ]
}

/** Members of `pg`'s query and connection that this module uses. */
interface PgConnection {
  parse(message: { text: string }): void
  bind(message: { portal: string; statement: string | undefined; values: string[] }): void
  execute(message: { portal: string }): void
}
interface QueryInternals {
  prepare(connection: PgConnection): void
  handleDataRow(mensaje: unknown): void
  handleCommandComplete(mensaje: unknown, connection: PgConnection): void
}
const PgQuery = pg.Query as unknown as new (config: pg.QueryConfig) => QueryInternals & pg.Submittable

/**
 * Statement that runs with a role and sees only some merchants' rows. The statement that sets both goes before it in
 * the same message. The two are one transaction, so role and merchants apply to no other statement.
 */
export class ScopedQuery extends PgQuery {
  readonly #values: string[]
  readonly #unprepared: string | undefined
  readonly #preparedName: string
  #isScoped = false

  /**
   * @param plan plan of the statement
   * @param unprepared text of the statement that sets the scope ({@link scopeStatement}), for sessions that have not prepared
   * it
   * @param parte part in which the statement runs
   */
  constructor(
    { role, comercios }: RowScope,
    config: pg.QueryConfig,
    {
      plan,
      unprepared,
      parte,
    }: { plan?: PlanChoice | undefined; unprepared?: string | undefined; parte?: Part | undefined },
  ) {
    // A statement without values is sent by `pg` with another protocol, in which no other statement can go before it.
    super({ ...config, queryMode: 'extended' } as pg.QueryConfig)
    this.#values = [role, toArrayLiteral(comercios), ...(parte ? [parte.schema, parte.shard] : [])]
    this.#preparedName = scopeName(plan)
    this.#unprepared = unprepared
  }

  override prepare(connection: PgConnection): void {
    if (this.#unprepared !== undefined) connection.parse({ text: this.#unprepared })
    const statement = this.#unprepared === undefined ? this.#preparedName : undefined
    connection.bind({ portal: '', statement, values: this.#values })
    connection.execute({ portal: '' })
    super.prepare(connection)
  }

  override handleDataRow(mensaje: unknown): void {
    if (this.#isScoped) super.handleDataRow(mensaje)
  }

  override handleCommandComplete(mensaje: unknown, connection: PgConnection): void {
    if (this.#isScoped) super.handleCommandComplete(mensaje, connection)
    this.#isScoped = true
  }
}

/**
 * Rows that a query may see (`scope`), and the database on which it runs (`place`). Without `scope` the session's own
 * role applies. Without `place` the query runs on the database that has the rows of all merchants.
 */
export interface QueryOrigin {
  readonly scope?: RowScope | undefined
  readonly place?: Place | undefined
}

const current = new AsyncLocalStorage<QueryOrigin>()

/**
 * Runs `work` with a scope ({@link RowScope}) and a place, which apply to queries on a pool for Prisma (`forPrisma`).
 */
export const inScope = <T>(from: QueryOrigin, work: () => T): T => current.run(from, work)

/**
 * Returns the scope and the place from the async context. Prisma's queries use it, because they cannot carry either.
 */
export const currentScope = (): QueryOrigin => current.getStore() ?? {}
