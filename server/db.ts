import type pg from 'pg'
import { type Ambito, type Desde, enAmbito, type Rol } from './ambito.ts'
import { Conexiones, nombreDe, type OpcionesDeConexiones, paraPrisma } from './conexiones.ts'
import type { PrismaClient } from './contrato/generado/prisma/client.ts'
import type { Part, Place } from './data/parts.ts'

/**
 * What a statement is about, where merchants' rows lie in parts: rows of one part, be they one merchant's or several's, and
 * then it is run there; or rows of everybody's, or such as are no merchant's. What can be said anywhere (`donde_sea`) is run
 * wherever the database that is asked is.
 */
export type Alcance = 'parte' | 'todo' | 'donde_sea'

/** A statement. */
export interface Sentencia<Parametros = object, Fila = object> {
  /** Under it the statement is prepared once per connection; undefined: it is parsed and planned each time. */
  readonly name: string | undefined
  /** With `$1`, `$2`… where the source names parameters. */
  readonly text: string
  /** The parameters in the order of their numbers. */
  readonly parametros: readonly string[]
  readonly alcance: Alcance
  /** Whether PostgreSQL keeps one plan for all parameters ({@link OpcionesDeSentencia}). */
  readonly planGenerico?: boolean
  /** Only for the compiler: what goes in, and what a row that comes out is like. */
  readonly tipos?: (parametros: Parametros) => Fila
}

/**
 * A row as Prisma's model of its table has it. `Precisas` says of some columns what PostgreSQL's types can't: which words a
 * text may be, what shape a JSON has.
 */
export type Fila<Modelo, Precisas extends { [C in keyof Precisas]: C extends keyof Modelo ? unknown : never }> = Omit<
  Modelo,
  keyof Precisas
> &
  Precisas

/** A row as JSON brings it: instants are texts. */
export type EnJson<Fila> = {
  [C in keyof Fila]: Fila[C] extends Date ? string : Fila[C] extends Date | null ? string | null : Fila[C]
}

/** SQL of columns whose instants come as texts, too, as {@link EnJson} has them: nobody needs a Date of what is only shown. */
export const conTextos = (columnas: readonly string[], de = '') =>
  columnas.map((c) => (c.endsWith('_en') ? `${de}${c}::text as ${c}` : `${de}${c}`)).join(', ')

type Modelos = Omit<PrismaClient, `$${string}`>

/** Values by name; a statement without parameters takes none. */
type Valores<Parametros> = keyof Parametros extends never ? [] : [valores: NoInfer<Parametros>]

/** Runs a statement and gives its rows. */
export type Consultar = <Parametros, Fila>(
  sentencia: Sentencia<Parametros, Fila>,
  ...valores: Valores<Parametros>
) => Promise<Fila[]>

/**
 * The database. Prisma for what it says in one call; `consultar` for the hot paths and for what Prisma cannot say (several
 * writes in one statement, xid8): each stands as a `Sentencia` beside the operation that needs it.
 */
export interface Db {
  /**
   * Prisma's models. The client is loaded at the first call of a method: that takes its time, and the hot paths don't
   * need it.
   */
  readonly prisma: Modelos
  readonly pool: Conexiones
  readonly consultar: Consultar
  /** As whom it is asked; undefined: as whoever the pool connects as. */
  readonly ambito?: Ambito | undefined
  /** Where it is asked what is about rows of one part; undefined: wherever each statement's merchant has them. */
  readonly lugar?: Place | undefined
  /** The same database, asked as somebody. */
  como(rol: Rol, comercios?: readonly string[]): Db
  /** The same database where that merchant's rows lie, with those of all who lie there with him. */
  de(comercio_id: string): Db
  /** The same database in the part of that number. */
  enParte(numero: number): Db
  /** The same database where what is no merchant's lies. */
  readonly central: Db
  /** The same database in each of the places where merchants' rows lie; one, unless they lie in parts. */
  partes(): readonly Db[]
  cerrar(): Promise<void>
}

/** Reports whether merchants' rows lie in several parts, some of which may be away while others are there. */
export const esRepartida = ({ pool }: Pick<Db, 'pool'>): boolean => pool.partes !== undefined

/**
 * Runs statements on one connection as one transaction: all of it is there afterwards, or nothing.
 * @param hacer is done again from its beginning when a migration came between (`Conexiones.trasMigrar`)
 */
export const enTransaccion = <T>(
  { pool, ambito, lugar }: Pick<Db, 'pool' | 'ambito' | 'lugar'>,
  hacer: EnTransaccion<T>,
): Promise<T> =>
  pool.enLugar(lugar, (conexiones, parte) =>
    conexiones.trasMigrar(() => unaTransaccion(conexiones, parte, ambito, hacer)),
  )

type EnTransaccion<T> = (consultar: Consultar, cliente: pg.PoolClient) => Promise<T>

async function unaTransaccion<T>(
  conexiones: Conexiones,
  parte: Part | undefined,
  ambito: Ambito | undefined,
  hacer: EnTransaccion<T>,
): Promise<T> {
  const cliente = await conexiones.connect()
  try {
    await cliente.query(conexiones.comenzar(ambito, parte))
    const hecho = await hacer(async (sentencia, ...[valores]) => {
      if (parte && sentencia.alcance === 'todo') throw new Error(`${sentencia.name} is not about rows of one part`)
      return (await cliente.query(conexiones.llamar(ambito, configDe(sentencia, valores), parte))).rows
    }, cliente)
    await cliente.query('commit')
    cliente.release()
    return hecho
  } catch (error) {
    // The connection's state is unknown: it goes, and its transaction with it.
    cliente.release(true)
    throw error
  }
}

/** `:name`, but neither `::type` nor what stands behind a letter. */
const PARAMETRO = /(?<![:\w]):([a-z]\w*)/g

/** Every statement of the process whose text is fixed, by its name. */
export const SENTENCIAS = new Map<string, Sentencia>()

/** How a statement is run. */
interface OpcionesDeSentencia {
  /** What it is about; left out, rows of the merchant who is its parameter `comercio_id`, or else of everybody's. */
  alcance?: Alcance
  /**
   * PostgreSQL keeps one plan for all parameters of the statement. By itself it plans a list anew for each request, because
   * it takes any `limit` that it doesn't know for a tenth of the rows: a page of events then costs it twice as much. Only for
   * statements that one index serves in its order, whatever the parameters: `test/db/planes.test.ts` holds them to that.
   */
  planGenerico?: boolean
}

/**
 * A statement with parameters `:by_name`, which PostgreSQL gets as `$1`, `$2`… `test/db/sentencias.test.ts` holds the types
 * that are claimed here against what PostgreSQL says of the statement.
 */
export function sentencia<Parametros = object, Fila = object>(
  name: string,
  sql: string,
  opciones: OpcionesDeSentencia = {},
): Sentencia<Parametros, Fila> {
  if (SENTENCIAS.has(name)) throw new Error(`there are two statements named ${name}`)
  const hecha = { name, ...numerar(sql), ...opciones }
  SENTENCIAS.set(name, hecha)
  return hecha
}

function numerar(sql: string): Pick<Sentencia, 'text' | 'parametros' | 'alcance'> {
  const parametros: string[] = []
  const text = sql.replace(PARAMETRO, (_todo, nombre: string) => {
    if (!parametros.includes(nombre)) parametros.push(nombre)
    return `$${parametros.indexOf(nombre) + 1}`
  })
  return { text, parametros, alcance: parametros.includes('comercio_id') ? 'parte' : 'todo' }
}

/**
 * A statement whose text depends on what is asked. A prepared text stays in the memory of each connection for as long as that
 * lives: 768 forms of the list of guides took 292 MB of one. So only few of them may be.
 * @param comun whether this text is one of the few that are asked for again and again
 */
export const sentenciaDe = <Parametros = object, Fila = object>(
  sql: string,
  comun: boolean,
  opciones: OpcionesDeSentencia = {},
): Sentencia<Parametros, Fila> => ({ name: comun ? nombreDe(sql) : undefined, ...numerar(sql), ...opciones })

type Escrita = Pick<Sentencia, 'name' | 'text' | 'parametros' | 'alcance'>

const configDe = ({ name, text, parametros }: Escrita, valores: unknown): pg.QueryConfig => {
  const values = parametros.map((nombre) => (valores as Readonly<Record<string, unknown>>)[nombre])
  return name === undefined ? { text, values } : { name, text, values }
}

/** Where a statement is run: in a part, if it is about rows of one and it is known of which. */
function lugarDe({ name, alcance }: Escrita, valores: unknown, lugar: Place | undefined): Place | undefined {
  if (alcance !== 'parte' || lugar) return alcance === 'todo' ? undefined : lugar
  const comercio_id = (valores as { comercio_id?: unknown } | undefined)?.comercio_id
  if (comercio_id === undefined) throw new Error(`nobody said in which part ${name} is to be run`)
  return typeof comercio_id === 'string' ? { merchant: comercio_id } : undefined
}

/** What runs statements as somebody, and where they belong. */
export const consultarCon =
  (conexiones: Conexiones, { ambito, lugar }: Desde = {}): Consultar =>
  async (sentencia, ...[valores]) => {
    const donde = conexiones.partes ? lugarDe(sentencia, valores, lugar) : undefined
    const config = configDe(sentencia, valores)
    return (await conexiones.preguntar({ ambito, lugar: donde }, config, sentencia.planGenerico)).rows
  }

export interface OpcionesDeDb extends OpcionesDeConexiones {
  /** Connections of this process; 8 serve as well as 16 (measured), 4 cost a third. */
  conexiones?: number
  /** What the sessions are called, beside the process's number. */
  nombre?: string
  /** Called with errors of idle connections, which are no request's. */
  alFallar?: (error: Error) => void
}

export function abrirDb(url: string, opciones: OpcionesDeDb = {}): Db {
  const { conexiones = 8, nombre = 'guias', alFallar = () => {}, ...sesiones } = opciones
  const pool = new Conexiones(url, conexiones, `${nombre} pid=${process.pid}`, sesiones)
  pool.on('error', alFallar)
  return new DbAbierta(pool, new ClienteDePrisma(pool), {})
}

/** Prisma's client, from the first use on. */
class ClienteDePrisma {
  readonly #pool: Conexiones
  #cliente: Promise<PrismaClient> | undefined

  constructor(pool: Conexiones) {
    this.#pool = pool
  }

  readonly cargar = (): Promise<PrismaClient> => {
    this.#cliente ??= cargarPrisma(this.#pool)
    return this.#cliente
  }

  async cerrar(): Promise<void> {
    await (await this.#cliente)?.$disconnect()
  }
}

class DbAbierta implements Db {
  readonly pool: Conexiones
  readonly ambito: Ambito | undefined
  readonly lugar: Place | undefined
  readonly consultar: Consultar
  readonly #cliente: ClienteDePrisma

  constructor(pool: Conexiones, cliente: ClienteDePrisma, { ambito, lugar }: Desde) {
    this.pool = pool
    this.ambito = ambito
    this.lugar = lugar
    this.consultar = consultarCon(pool, { ambito, lugar })
    this.#cliente = cliente
  }

  get prisma(): Modelos {
    return alPrimerUso(this.#cliente.cargar, this)
  }

  como(rol: Rol, comercios: readonly string[] = []): Db {
    return this.#desde({ rol, comercios }, this.lugar)
  }

  de(comercio_id: string): Db {
    return this.pool.partes ? this.#desde(this.ambito, { merchant: comercio_id }) : this
  }

  enParte(numero: number): Db {
    return this.#desde(this.ambito, { part: numero })
  }

  get central(): Db {
    return this.lugar ? this.#desde(this.ambito, undefined) : this
  }

  partes(): readonly Db[] {
    return this.pool.partes?.parts().map(({ number }) => this.enParte(number)) ?? [this]
  }

  async cerrar(): Promise<void> {
    await this.#cliente.cerrar()
    await this.pool.end()
  }

  #desde(ambito: Ambito | undefined, lugar: Place | undefined): Db {
    return new DbAbierta(this.pool, this.#cliente, { ambito, lugar })
  }
}

type Metodos = Record<string, (...argumentos: unknown[]) => unknown>

/** `prisma.model.method(…)`, of a client that the call waits for. */
const alPrimerUso = (cargar: () => Promise<PrismaClient>, desde: Desde): Modelos =>
  new Proxy({} as Modelos, {
    get: (_nada, modelo: string) =>
      new Proxy({} as Metodos, {
        get:
          (_nada, metodo: string) =>
          async (...argumentos: unknown[]) => {
            const cliente = (await cargar()) as unknown as Record<string, Metodos>
            return enAmbito(desde, async () => cliente[modelo]![metodo]!(...argumentos))
          },
      }),
  })

async function cargarPrisma(pool: Conexiones): Promise<PrismaClient> {
  const [{ PrismaPg }, { PrismaClient: Cliente }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('./contrato/generado/prisma/client.ts'),
  ])
  // Without names nothing of Prisma's is prepared.
  const adapter = new PrismaPg(paraPrisma(pool), { statementNameGenerator: ({ sql }) => nombreDe(sql) })
  // Its long messages quote the arguments, which have no place in a log.
  return new Cliente({ errorFormat: 'minimal', adapter })
}
