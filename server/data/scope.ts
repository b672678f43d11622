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
  readonly rol: Role | 'none'
  /** Ids of merchants; only `guias_api` uses them. */
  readonly comercios: readonly string[]
}

const UUID = /^[0-9a-f-]{36}$/

/**
 * Writes ids as an array literal of PostgreSQL, for the setting `guias.comercios`.
 * @throws if an id is not a UUID
 */
function enArreglo(comercios: readonly string[]): string {
  if (!comercios.every((id) => UUID.test(id))) throw new Error('merchant id is not a UUID')
  return `{${comercios.join(',')}}`
}

/**
 * Ways in which PostgreSQL may plan a statement, instead of its own choice. `generic`: one plan for all parameters.
 * `ordered`: rows are read in the order of an index and never sorted, wherever an index has that order. `indexed`: one plan
 * for all parameters, in which an index finds the rows wherever one can.
 */
export type Plan = 'generic' | 'ordered' | 'indexed'

/** Settings of a transaction by the plan of its statement. */
const PLAN_SETTINGS = {
  generic: { plan_cache_mode: 'force_generic_plan' },
  ordered: { enable_sort: 'off' },
  indexed: { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' },
} as const satisfies Record<Plan, Readonly<Record<string, string>>>

/** Plans for which each session prepares a statement that sets the scope; undefined for PostgreSQL's own choice. */
export const PLANS: readonly (Plan | undefined)[] = [undefined, 'generic', 'ordered', 'indexed']

/** Name of the prepared statement that sets the scope. */
const scopeName = (plan: Plan | undefined) => (plan ? `acotar_${plan}` : 'acotar')

/**
 * Statement that goes before another statement in its transaction. It sets the role and the merchants whose rows are
 * visible.
 * @param ajustes settings that the session may not have
 * @param enParte true if the statement also names a part and keeps the part on its machine
 * @param plan plan of the next statement
 */
export function scopeStatement(
  ajustes: Readonly<Record<string, string>>,
  { enParte = false, plan }: { enParte?: boolean | undefined; plan?: Plan | undefined },
): { name: string; text: string } {
  const todos = Object.entries({ ...ajustes, ...(plan && PLAN_SETTINGS[plan]) })
  const suyos = todos.map(([nombre, valor]) => `set_config('${nombre}', '${valor}', true)`)
  // `partes.tomar` comes before `search_path`: PostgreSQL plans a function's statements anew when the search path has
  // changed.
  const donde = enParte ? ['partes.tomar($4)', "set_config('search_path', $3, true)"] : []
  const que = ["set_config('role', $1, true)", "set_config('guias.comercios', $2, true)", ...donde, ...suyos]
  return { name: scopeName(plan), text: `select ${que.join(', ')}` }
}

/**
 * SQL that sets role, visible merchants and settings for the rest of a transaction. On Citus, also sets the part, the
 * schema with the merchants' rows.
 */
export function scopeTransaction(
  ambito: RowScope | undefined,
  ajustes: Readonly<Record<string, string>>,
  parte?: Part,
): string[] {
  const quien = ambito ? { role: ambito.rol, 'guias.comercios': `'${enArreglo(ambito.comercios)}'` } : {}
  const donde = parte ? { search_path: parte.schema } : {}
  return [
    ...(parte ? [`select partes.tomar(${parte.shard})`] : []),
    ...Object.entries({ ...ajustes, ...quien, ...donde }).map(([nombre, valor]) => `set local ${nombre} = ${valor}`),
  ]
}

/** Members of `pg`'s query and connection that this module uses. */
interface Conexion {
  parse(que: { text: string }): void
  bind(que: { portal: string; statement: string | undefined; values: string[] }): void
  execute(que: { portal: string }): void
}
interface DeUnaConsulta {
  prepare(conexion: Conexion): void
  handleDataRow(mensaje: unknown): void
  handleCommandComplete(mensaje: unknown, conexion: Conexion): void
}
const Consulta = pg.Query as unknown as new (config: pg.QueryConfig) => DeUnaConsulta & pg.Submittable

/**
 * Statement that runs with a role and sees only some merchants' rows. The statement that sets both goes before it in
 * the same message. The two are one transaction, so role and merchants apply to no other statement.
 */
export class ScopedQuery extends Consulta {
  readonly #valores: string[]
  readonly #sinPreparar: string | undefined
  readonly #preparada: string
  #acotada = false

  /**
   * @param plan plan of the statement
   * @param sinPreparar text of the statement that sets the scope ({@link scopeStatement}), for sessions that have not prepared
   * it
   * @param parte part in which the statement runs
   */
  constructor(
    { rol, comercios }: RowScope,
    config: pg.QueryConfig,
    {
      plan,
      sinPreparar,
      parte,
    }: { plan?: Plan | undefined; sinPreparar?: string | undefined; parte?: Part | undefined },
  ) {
    // A statement without values is sent by `pg` with another protocol, in which no other statement can go before it.
    super({ ...config, queryMode: 'extended' } as pg.QueryConfig)
    this.#valores = [rol, enArreglo(comercios), ...(parte ? [parte.schema, parte.shard] : [])]
    this.#preparada = scopeName(plan)
    this.#sinPreparar = sinPreparar
  }

  override prepare(conexion: Conexion): void {
    if (this.#sinPreparar !== undefined) conexion.parse({ text: this.#sinPreparar })
    const statement = this.#sinPreparar === undefined ? this.#preparada : undefined
    conexion.bind({ portal: '', statement, values: this.#valores })
    conexion.execute({ portal: '' })
    super.prepare(conexion)
  }

  override handleDataRow(mensaje: unknown): void {
    if (this.#acotada) super.handleDataRow(mensaje)
  }

  override handleCommandComplete(mensaje: unknown, conexion: Conexion): void {
    if (this.#acotada) super.handleCommandComplete(mensaje, conexion)
    this.#acotada = true
  }
}

/**
 * Rows that a query may see (`ambito`), and the database on which it runs (`lugar`). Without `ambito` the session's own
 * role applies. Without `lugar` the query runs on the database that has the rows of all merchants.
 */
export interface QueryOrigin {
  readonly ambito?: RowScope | undefined
  readonly lugar?: Place | undefined
}

const actual = new AsyncLocalStorage<QueryOrigin>()

/**
 * Runs `hacer` with a scope ({@link RowScope}) and a place, which apply to queries on a pool for Prisma (`forPrisma`).
 */
export const inScope = <T>(desde: QueryOrigin, hacer: () => T): T => actual.run(desde, hacer)

/**
 * Returns the scope and the place from the async context. Prisma's queries use it, because they cannot carry either.
 */
export const currentScope = (): QueryOrigin => actual.getStore() ?? {}
