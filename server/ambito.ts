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

/** A new connection is told how to be told, beside a statement, as whom it runs. */
export const prepararAmbitos = (cliente: pg.ClientBase): Promise<unknown> =>
  cliente.query({
    name: ACOTAR,
    text: "select set_config('role', $1, true), set_config('guias.comercios', $2, true)",
    values: ['none', ''],
  })

/** SQL that begins a transaction. */
export const comenzar = (ambito: Ambito | undefined): string =>
  ambito ? `begin; set local role ${ambito.rol}; set local guias.comercios = '${enArreglo(ambito.comercios)}'` : 'begin'

/** What `pg` has of its own query and its connection, as far as it is used here. */
interface Conexion {
  bind(que: { portal: string; statement: string; values: string[] }): void
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
class ConsultaAcotada extends Consulta {
  readonly #valores: string[]
  #acotada = false

  constructor({ rol, comercios }: Ambito, config: pg.QueryConfig) {
    // What has no values is sent otherwise, where nothing can go ahead of it.
    super({ ...config, queryMode: 'extended' } as pg.QueryConfig)
    this.#valores = [rol, enArreglo(comercios)]
  }

  override prepare(conexion: Conexion): void {
    conexion.bind({ portal: '', statement: ACOTAR, values: this.#valores })
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

/** A plan is made for one role: each has prepared statements of its own. */
export const enAmbitoDe = (ambito: Ambito | undefined, config: pg.QueryConfig): pg.QueryConfig =>
  ambito && config.name !== undefined ? { ...config, name: `${ambito.rol}.${config.name}` } : config

/** Runs a statement as somebody, on any connection that was given to {@link prepararAmbitos}. */
export const consultarComo = (pool: pg.Pool, ambito: Ambito, config: pg.QueryConfig): Promise<pg.QueryResult> =>
  pool.query(new ConsultaAcotada(ambito, enAmbitoDe(ambito, config)) as unknown as pg.QueryConfig)

const actual = new AsyncLocalStorage<Ambito | undefined>()

/** Does something whose queries on {@link poolConAmbito} run as somebody. */
export const enAmbito = <T>(ambito: Ambito | undefined, hacer: () => T): T => actual.run(ambito, hacer)

/** The pool as Prisma gets it, which knows nothing of whom it asks for. */
export const poolConAmbito = (pool: pg.Pool): pg.Pool =>
  new Proxy(pool, {
    get(_pool, propiedad) {
      if (propiedad === 'query')
        return (config: pg.QueryConfig, ...resto: unknown[]) => {
          const ambito = actual.getStore()
          const { query } = pool as unknown as { query: (...todo: unknown[]) => Promise<unknown> }
          return ambito ? consultarComo(pool, ambito, config) : query.call(pool, config, ...resto)
        }
      if (propiedad === 'connect' && actual.getStore()) throw new Error('a transaction of somebody is enTransaccion')
      const valor = Reflect.get(pool, propiedad) as unknown
      return typeof valor === 'function' ? valor.bind(pool) : valor
    },
  })
