import { hash } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import pg from 'pg'
import { type Ambito, acotar, ambitoActual, ConsultaAcotada, desdeAqui, type Rol } from './ambito.ts'
import { faltaAlServidor } from './errores.ts'
import type { Motor } from './motor.ts'

/**
 * A pooler in transaction mode (PgBouncer), which gives each transaction whatever session is free: what a session shall be
 * like is said with each transaction.
 */
export interface Pooler {
  /** Whether it knows statements by their names (PgBouncer from 1.21 on). */
  conNombres: boolean
}

export interface OpcionesDeConexiones {
  /** As whom every session begins. */
  rol?: Rol | undefined
  /** More settings of every session. */
  ajustes?: Readonly<Record<string, string>>
  /** What stands between; undefined: PostgreSQL itself. */
  pooler?: Pooler | undefined
  /** What answers; PostgreSQL, unless told. */
  motor?: Motor
}

const AJUSTES = {
  /**
   * Every statement here finds its rows by an index. Prepared while its table was small, it would read the table whole, and
   * go on so after the table grew, until somebody analyzes it: beside 100,000 new deliveries a settlement took five seconds.
   */
  enable_seqscan: 'off',
  /**
   * What does read a table whole, a small one, looks so dear without sequential scans (before PostgreSQL 18) that it would be
   * compiled: 234 ms of an empty one on Debian's PostgreSQL 15, 0.06 without.
   */
  jit: 'off',
  /** Instants come in UTC, wherever the database stands: what is shown of them is then cut out of their text (`iso`). */
  timezone: 'UTC',
  /** No request may hold a connection for ever: the server stops a long statement, the client gives a dead server up. */
  statement_timeout: '7000',
}

const DE_CITUS = {
  /** Its workers are told what a transaction was told with `set local`: whose rows `guias_api` sees. */
  'citus.propagate_set_commands': 'local',
  /** What asks all machines asks each by one connection: by sixteen, a few processes take all that the workers have. */
  'citus.max_adaptive_executor_pool_size': '1',
}

/**
 * Whether a statement failed for what is prepared of it: a migration has since changed the shape of its rows. Nothing was done,
 * and its connection would refuse it for ever.
 */
const esDeAntes = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery'

const nombres = new Map<string, string>()

/** The name of a statement that has none: its text's digest. */
export function nombreDe(text: string): string {
  const nombre = nombres.get(text) ?? hash('sha1', text)
  nombres.set(text, nombre)
  return nombre
}

/** Connections to the database, and as whom statements run on them. */
export class Conexiones extends pg.Pool {
  /** Whether statements are prepared under names. */
  readonly conNombres: boolean
  readonly motor: Motor
  /** As whom a statement runs of which nobody says it; undefined: its session knows. */
  readonly #nadieMas: Ambito | undefined
  /** What each transaction is told, because its session isn't. */
  readonly #ajustes: Readonly<Record<string, string>>
  readonly #acotar: string
  /** Connections whose server refused a statement because it lacks something ({@link faltaAlServidor}). */
  readonly #gastadas = new WeakSet<object>()
  /** Time of the last such refusal in milliseconds, as `performance.now()` tells it. */
  rechazado_en = Number.NEGATIVE_INFINITY

  constructor(url: string, max: number, application_name: string, opciones: OpcionesDeConexiones = {}) {
    const { rol, pooler, motor = 'postgres' } = opciones
    const ajustes = { ...AJUSTES, ...(motor === 'citus' ? DE_CITUS : {}), ...opciones.ajustes }
    const alEmpezar = Object.entries(rol ? { ...ajustes, role: rol } : ajustes)
    const conNombres = pooler?.conNombres !== false
    const preparar = acotar(pooler ? ajustes : {})
    super({
      connectionString: url,
      max,
      application_name,
      ...(pooler ? {} : { options: alEmpezar.map(([nombre, valor]) => `-c ${nombre}=${valor}`).join(' ') }),
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      query_timeout: 8_000,
      // Prepares the statement that sets role and merchants, and goes ahead of others.
      ...(conNombres ? { onConnect: (cliente: pg.ClientBase) => cliente.query(preparar) } : {}),
    })
    this.conNombres = conNombres
    this.motor = motor
    this.#nadieMas = pooler && rol ? { rol, comercios: [] } : undefined
    this.#ajustes = pooler ? ajustes : {}
    this.#acotar = preparar.text
    this.on('connect', (cliente) => {
      // A connection that is lost during a statement fails that statement. Its event must not end the process as well.
      cliente.on('error', () => {})
      this.#vigilar(cliente)
    })
    // Its server may be a former primary, and would refuse writes for ever: the next connection finds the present one.
    this.on('release', (_error, cliente) => void (this.#gastadas.has(cliente) && cliente.end()))
  }

  /** Notes refusals of the connection's server, whatever code runs the statement: ours, pg-boss's or Prisma's. */
  #vigilar(cliente: pg.PoolClient): void {
    const { connection } = cliente as unknown as { connection: EventEmitter }
    connection.on('errorMessage', ({ code }: pg.DatabaseError) => {
      if (!faltaAlServidor(code)) return
      this.#gastadas.add(cliente)
      this.rechazado_en = performance.now()
    })
  }

  /**
   * Runs a statement as somebody.
   * @param antes SQL that goes before it in its transaction
   */
  preguntar(
    ambito: Ambito | undefined,
    config: pg.QueryConfig,
    antes: readonly string[] = [],
  ): Promise<pg.QueryResult> {
    return this.trasMigrar(() => this.#preguntar(ambito ?? this.#nadieMas, config, antes))
  }

  #preguntar(quien: Ambito | undefined, config: pg.QueryConfig, antes: readonly string[]): Promise<pg.QueryResult> {
    if (antes.length > 0 || (this.motor === 'citus' && quien?.rol === 'guias_api'))
      return this.#preguntarEnTransaccion(quien, config, antes)
    if (!quien) return this.query(config)
    const consulta = new ConsultaAcotada(quien, this.llamar(quien, config), this.conNombres ? undefined : this.#acotar)
    return this.query(consulta as unknown as pg.QueryConfig)
  }

  /** On Citus the wall stands on the workers, which hear whose rows may be seen with a transaction alone. */
  async #preguntarEnTransaccion(
    quien: Ambito | undefined,
    config: pg.QueryConfig,
    antes: readonly string[],
  ): Promise<pg.QueryResult> {
    const cliente = await this.connect()
    try {
      await cliente.query([this.comenzar(quien), ...antes].join('; '))
      const hecho = await cliente.query(this.llamar(quien, config))
      await cliente.query('commit')
      cliente.release()
      return hecho
    } catch (error) {
      // What is wrong with a statement leaves its connection as it was, unless it is what is prepared there.
      const sirve = !esDeAntes(error) && (await cliente.query('rollback').then(Boolean, () => false))
      cliente.release(!sirve)
      throw error
    }
  }

  /**
   * Does again what failed because a migration came after its statements were prepared, as when versions run side by side. The
   * connection that refused is gone by then; every one may have to go.
   */
  async trasMigrar<T>(hacer: () => Promise<T>): Promise<T> {
    for (let quedan = this.options.max; quedan > 0; quedan--) {
      try {
        return await hacer()
      } catch (error) {
        if (!esDeAntes(error)) throw error
      }
    }
    return hacer()
  }

  /** A plan is made for one role: each has prepared statements of its own. */
  llamar(ambito: Ambito | undefined, config: pg.QueryConfig): pg.QueryConfig {
    const { name, ...sinNombre } = config
    if (name === undefined || !this.conNombres) return sinNombre
    return ambito ? { ...config, name: `${ambito.rol}.${name}` } : config
  }

  /** SQL that begins a transaction of somebody. */
  comenzar(ambito: Ambito | undefined): string {
    return ['begin', ...this.#desdeAqui(ambito)].join('; ')
  }

  /** As pg-boss asks: few statements that come again and again; those without parameters may be several in one text. */
  async ejecutar(text: string, values: unknown[] | undefined): Promise<pg.QueryResult> {
    if (values !== undefined && values.length > 0)
      return this.preguntar(undefined, { name: nombreDe(text), text, values })
    const antes = this.#desdeAqui(undefined)
    const hecho: pg.QueryResult | pg.QueryResult[] = await this.query([...antes, text].join('; '))
    const suyos = Array.isArray(hecho) ? hecho.slice(antes.length) : [hecho]
    return (suyos.length === 1 ? suyos[0] : suyos) as pg.QueryResult
  }

  #desdeAqui(ambito: Ambito | undefined): string[] {
    return desdeAqui(ambito ?? this.#nadieMas, this.#ajustes)
  }
}

/** Connections as Prisma gets them, which knows nothing of whom it asks for. */
export const paraPrisma = (conexiones: Conexiones): pg.Pool =>
  new Proxy(conexiones, {
    get(_conexiones, propiedad) {
      if (propiedad === 'query') return (config: pg.QueryConfig) => conexiones.preguntar(ambitoActual(), config)
      if (propiedad === 'connect' && ambitoActual()) throw new Error('a transaction of somebody is enTransaccion')
      const valor = Reflect.get(conexiones, propiedad) as unknown
      return typeof valor === 'function' ? valor.bind(conexiones) : valor
    },
  })
