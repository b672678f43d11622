import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import type { Part, Place } from './data/parts.ts'

/**
 * PostgreSQL's roles (`prisma/migrations/*_muro`), the second wall behind each statement's own conditions: what a merchant
 * asks for runs as `guias_api`, which sees the rows of those in the setting `guias.comercios` and no others; what operators,
 * couriers and recipients ask for, as `guias_operacion`; jobs, as `guias_trabajos`. Whoever only reads has `guias_lectura`.
 */
export type Rol = 'guias_api' | 'guias_operacion' | 'guias_trabajos'

/** As whom statements run, and whose rows they see. */
export interface Ambito {
  /** `none`: as whoever signed in. */
  readonly rol: Rol | 'none'
  /** The ids of merchants, which only `guias_api` asks for. */
  readonly comercios: readonly string[]
}

const UUID = /^[0-9a-f-]{36}$/

/** The setting `guias.comercios`: PostgreSQL's way to write an array of them. */
function enArreglo(comercios: readonly string[]): string {
  if (!comercios.every((id) => UUID.test(id))) throw new Error('a merchant has no id of the database')
  return `{${comercios.join(',')}}`
}

const ACOTAR = 'acotar'
const ACOTAR_GENERICO = 'acotar_generico'

/** Settings of a statement's transaction under which PostgreSQL keeps its plan for all parameters. */
const GENERICO = { plan_cache_mode: 'force_generic_plan' }

/**
 * What goes ahead of statements, to say as whom they run, with settings that their session may not have.
 * @param enParte whether it says in which part, too, and holds it there
 * @param planGenerico whether PostgreSQL keeps the statement's plan for all parameters
 */
export function acotar(
  ajustes: Readonly<Record<string, string>>,
  { enParte = false, planGenerico = false } = {},
): { name: string; text: string } {
  const todos = Object.entries(planGenerico ? { ...ajustes, ...GENERICO } : ajustes)
  const suyos = todos.map(([nombre, valor]) => `set_config('${nombre}', '${valor}', true)`)
  // In this order: what a function has planned is planned anew when it is called with another search path.
  const donde = enParte ? ['partes.tomar($4)', "set_config('search_path', $3, true)"] : []
  const que = ["set_config('role', $1, true)", "set_config('guias.comercios', $2, true)", ...donde, ...suyos]
  return { name: planGenerico ? ACOTAR_GENERICO : ACOTAR, text: `select ${que.join(', ')}` }
}

/** SQL that says as whom the rest of a transaction runs, where, and what settings it has. */
export function desdeAqui(
  ambito: Ambito | undefined,
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

/** What `pg` has of its own query and its connection, as far as it is used here. */
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
 * A statement that runs as somebody: who that is goes ahead of it in the same message and, for both are one transaction,
 * ends with it.
 */
export class ConsultaAcotada extends Consulta {
  readonly #valores: string[]
  readonly #sinPreparar: string | undefined
  readonly #preparada: string
  #acotada = false

  /**
   * @param planGenerico whether PostgreSQL keeps the statement's plan for all parameters
   * @param sinPreparar what goes ahead ({@link acotar}), where sessions don't have it prepared
   * @param parte where it runs
   */
  constructor(
    { rol, comercios }: Ambito,
    config: pg.QueryConfig,
    {
      planGenerico,
      sinPreparar,
      parte,
    }: { planGenerico: boolean; sinPreparar?: string | undefined; parte?: Part | undefined },
  ) {
    // What has no values is sent otherwise, where nothing can go ahead of it.
    super({ ...config, queryMode: 'extended' } as pg.QueryConfig)
    this.#valores = [rol, enArreglo(comercios), ...(parte ? [parte.schema, parte.shard] : [])]
    this.#preparada = planGenerico ? ACOTAR_GENERICO : ACOTAR
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

/** As whom something is asked, and where; undefined: as whoever the session is, and where everybody's rows are. */
export interface Desde {
  readonly ambito?: Ambito | undefined
  readonly lugar?: Place | undefined
}

const actual = new AsyncLocalStorage<Desde>()

/** Does something whose queries on a pool for Prisma (`paraPrisma`) run as somebody, and where they are told. */
export const enAmbito = <T>(desde: Desde, hacer: () => T): T => actual.run(desde, hacer)

/** As whom somebody asks who knows nothing of it, and where. */
export const ambitoActual = (): Desde => actual.getStore() ?? {}
