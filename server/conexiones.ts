import { hash } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import pg from 'pg'
import { type Ambito, acotar, ambitoActual, ConsultaAcotada, type Desde, desdeAqui, type Rol } from './ambito.ts'
import type { Part, Place, Placements } from './data/parts.ts'
import { faltaAlServidor } from './errores.ts'

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
  /** Where merchants' rows lie, if one machine doesn't have them all. */
  partes?: Placements | undefined
}

/** What a machine of parts is connected to with, in the place of what stands before all of them. */
type DeMaquina = OpcionesDeConexiones & { enParte?: true }

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

/**
 * Whether a statement failed for what is prepared of it: a migration has since changed the shape of its rows. Nothing was done,
 * and its connection would refuse it for ever.
 */
const esDeAntes = (error: unknown) =>
  error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery'

/** Connections that wait for turns. */
const TURNOS = 2

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
  readonly partes: Placements | undefined
  /** Connections to the machines where the parts lie, by their addresses. */
  readonly #maquinas = new Map<string, Conexiones>()
  readonly #deMaquina: (url: string) => Conexiones
  readonly #deTurnos: () => Conexiones
  #turnos: Conexiones | undefined
  /** As whom a statement runs of which nobody says it; undefined: its session knows. */
  readonly #nadieMas: Ambito | undefined
  readonly #rol: Rol | undefined
  /** What each transaction is told, because its session isn't. */
  readonly #ajustes: Readonly<Record<string, string>>
  readonly #acotar: string
  /** Connections whose server refused a statement because it lacks something ({@link faltaAlServidor}). */
  readonly #gastadas = new WeakSet<object>()
  /** Time of the last such refusal in milliseconds, as `performance.now()` tells it. */
  rechazado_en = Number.NEGATIVE_INFINITY

  constructor(url: string, max: number, application_name: string, opciones: DeMaquina = {}) {
    const { rol, pooler, partes, enParte } = opciones
    const ajustes = { ...AJUSTES, ...partes?.settings, ...opciones.ajustes }
    const alEmpezar = Object.entries(rol ? { ...ajustes, role: rol } : ajustes)
    const conNombres = pooler?.conNombres !== false
    const conCadaUna = pooler ? ajustes : {}
    const preparar = acotar(conCadaUna, { enParte })
    const prepararGenerico = acotar(conCadaUna, { enParte, planGenerico: true })
    super({
      connectionString: url,
      max,
      application_name,
      ...(pooler ? {} : { options: alEmpezar.map(([nombre, valor]) => `-c ${nombre}=${valor}`).join(' ') }),
      connectionTimeoutMillis: 5_000,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      query_timeout: 8_000,
      // Prepares the statements that set role and merchants, and go ahead of others.
      ...(conNombres
        ? {
            onConnect: (cliente: pg.ClientBase) =>
              cliente.query(
                [preparar, prepararGenerico].map(({ name, text }) => `prepare ${name} as ${text}`).join('; '),
              ),
          }
        : {}),
    })
    this.conNombres = conNombres
    this.partes = partes
    this.#deMaquina = (maquina) => {
      const conexiones = new Conexiones(maquina, max, application_name, {
        rol,
        ajustes: { ...opciones.ajustes, ...partes?.machineSettings },
        enParte: true,
      })
      conexiones.on('error', (error) => this.emit('error', error))
      return conexiones
    }
    this.#deTurnos = () => {
      const conexiones = new Conexiones(url, TURNOS, application_name, { rol, pooler })
      conexiones.on('error', (error) => this.emit('error', error))
      return conexiones
    }
    this.#rol = rol
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
   * Runs a statement as somebody, and where those rows lie that it is about.
   * @param planGenerico whether its plan is kept for all parameters, where it is asked as somebody and by its name
   */
  preguntar({ ambito, lugar }: Desde, config: pg.QueryConfig, planGenerico = false): Promise<pg.QueryResult> {
    return this.enLugar(lugar, (conexiones, parte) =>
      conexiones.trasMigrar(() => conexiones.#preguntar(ambito ?? this.#deNadie(parte), config, planGenerico, parte)),
    )
  }

  #preguntar(
    quien: Ambito | undefined,
    config: pg.QueryConfig,
    planGenerico: boolean,
    parte: Part | undefined,
  ): Promise<pg.QueryResult> {
    if (!quien) return this.query(config)
    const suya = this.llamar(quien, config, parte)
    const consulta = new ConsultaAcotada(quien, suya, {
      planGenerico: planGenerico && suya.name !== undefined,
      sinPreparar: this.conNombres ? undefined : this.#acotar,
      parte,
    })
    return this.query(consulta as unknown as pg.QueryConfig)
  }

  /** Where a part's rows lie, a session is told with each statement who asks. */
  #deNadie(parte: Part | undefined): Ambito | undefined {
    return parte ? { rol: this.#rol ?? 'none', comercios: [] } : this.#nadieMas
  }

  /** Does something by the connections to the machine of a place; with none, or where one machine has everything, by these. */
  enLugar<T>(
    lugar: Place | undefined,
    hacer: (conexiones: Conexiones, parte: Part | undefined) => Promise<T>,
  ): Promise<T> {
    if (!lugar || !this.partes) return hacer(this, undefined)
    return this.partes.follow(lugar, (parte) => hacer(this.#maquina(parte.url), parte))
  }

  #maquina(url: string): Conexiones {
    let maquina = this.#maquinas.get(url)
    if (!maquina) {
      maquina = this.#deMaquina(url)
      this.#maquinas.set(url, maquina)
    }
    return maquina
  }

  /** Connections that only wait for turns, apart from those that the work needs. */
  turnos(): Conexiones {
    this.#turnos ??= this.#deTurnos()
    return this.#turnos
  }

  override async end(): Promise<void> {
    await Promise.all([...this.#maquinas.values(), this.#turnos].map((conexiones) => conexiones?.end()))
    await super.end()
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

  /** A plan is made for one role and one part: each has prepared statements of its own. */
  llamar(ambito: Ambito | undefined, config: pg.QueryConfig, parte?: Part): pg.QueryConfig {
    const { name, ...sinNombre } = config
    if (name === undefined || !this.conNombres) return sinNombre
    if (!ambito) return config
    return { ...config, name: `${parte ? `${parte.schema}.` : ''}${ambito.rol}.${name}` }
  }

  /** SQL that begins a transaction of somebody. */
  comenzar(ambito: Ambito | undefined, parte?: Part): string {
    return ['begin', ...this.#desdeAqui(ambito ?? this.#deNadie(parte), parte)].join('; ')
  }

  /** As pg-boss asks: few statements that come again and again; those without parameters may be several in one text. */
  async ejecutar(text: string, values: unknown[] | undefined): Promise<pg.QueryResult> {
    if (values !== undefined && values.length > 0) return this.preguntar({}, { name: nombreDe(text), text, values })
    const antes = this.#desdeAqui(undefined)
    const hecho: pg.QueryResult | pg.QueryResult[] = await this.query([...antes, text].join('; '))
    const suyos = Array.isArray(hecho) ? hecho.slice(antes.length) : [hecho]
    return (suyos.length === 1 ? suyos[0] : suyos) as pg.QueryResult
  }

  #desdeAqui(ambito: Ambito | undefined, parte?: Part): string[] {
    return desdeAqui(ambito ?? this.#nadieMas, this.#ajustes, parte)
  }
}

/** Prisma names the schema of each table; a part has the tables in one of its own. */
const sinEsquema = (config: pg.QueryConfig) =>
  ambitoActual().lugar ? { ...config, text: config.text.replaceAll('"public".', '') } : config

/** Connections as Prisma gets them, which knows nothing of whom it asks for. */
export const paraPrisma = (conexiones: Conexiones): pg.Pool =>
  new Proxy(conexiones, {
    get(_conexiones, propiedad) {
      if (propiedad === 'query')
        return (config: pg.QueryConfig) => conexiones.preguntar(ambitoActual(), sinEsquema(config))
      if (propiedad === 'connect' && ambitoActual().ambito)
        throw new Error('a transaction of somebody is enTransaccion')
      const valor = Reflect.get(conexiones, propiedad) as unknown
      return typeof valor === 'function' ? valor.bind(conexiones) : valor
    },
  })
