import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'

/**
 * PostgreSQL's roles (`prisma/migrations/*_muro`), the second wall behind each statement's own conditions: what a merchant
 * asks for runs as `guias_api`, which sees the rows of those in the setting `guias.comercios` and no others; what operators,
 * couriers and recipients ask for, as `guias_operacion`; jobs, as `guias_trabajos`. Whoever only reads has `guias_lectura`.
 */
export type Rol = 'guias_api' | 'guias_operacion' | 'guias_trabajos'

/** As whom statements run, and whose rows they see. */
export interface Ambito {
  readonly rol: Rol
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

/** What goes ahead of a statement to say as whom it runs, with settings that its session may not have. */
export function acotar(ajustes: Readonly<Record<string, string>>): { name: string; text: string; values: string[] } {
  const suyos = Object.entries(ajustes).map(([nombre, valor]) => `, set_config('${nombre}', '${valor}', true)`)
  const text = `select set_config('role', $1, true), set_config('guias.comercios', $2, true)${suyos.join('')}`
  return { name: ACOTAR, text, values: ['none', ''] }
}

/** SQL that says as whom the rest of a transaction runs, and what settings it has. */
export function desdeAqui(ambito: Ambito | undefined, ajustes: Readonly<Record<string, string>>): string[] {
  const quien = ambito ? { role: ambito.rol, 'guias.comercios': `'${enArreglo(ambito.comercios)}'` } : {}
  return Object.entries({ ...ajustes, ...quien }).map(([nombre, valor]) => `set local ${nombre} = ${valor}`)
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
  #acotada = false

  /** @param sinPreparar what goes ahead ({@link acotar}), where sessions don't have it prepared */
  constructor({ rol, comercios }: Ambito, config: pg.QueryConfig, sinPreparar?: string) {
    // What has no values is sent otherwise, where nothing can go ahead of it.
    super({ ...config, queryMode: 'extended' } as pg.QueryConfig)
    this.#valores = [rol, enArreglo(comercios)]
    this.#sinPreparar = sinPreparar
  }

  override prepare(conexion: Conexion): void {
    if (this.#sinPreparar !== undefined) conexion.parse({ text: this.#sinPreparar })
    const statement = this.#sinPreparar === undefined ? ACOTAR : undefined
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

const actual = new AsyncLocalStorage<Ambito | undefined>()

/** Does something whose queries on a pool for Prisma (`paraPrisma`) run as somebody. */
export const enAmbito = <T>(ambito: Ambito | undefined, hacer: () => T): T => actual.run(ambito, hacer)

/** As whom somebody asks who knows nothing of it. */
export const ambitoActual = (): Ambito | undefined => actual.getStore()
