import type pg from 'pg'
import { type Ambito, enAmbito, type Rol } from './ambito.ts'
import { Conexiones, nombreDe, type OpcionesDeConexiones, paraPrisma } from './conexiones.ts'
import type { PrismaClient } from './contrato/generado/prisma/client.ts'
import { type Motor, type PorMotor, TOMAR_TURNO } from './motor.ts'

/** A statement. */
export interface Sentencia<Parametros = object, Fila = object> {
  /** Under it the statement is prepared once per connection; undefined: it is parsed and planned each time. */
  readonly name: string | undefined
  /** With `$1`, `$2`… where the source names parameters. */
  readonly text: string
  /** The parameters in the order of their numbers. */
  readonly parametros: readonly string[]
  /** What Citus gets in its place, which can't do it otherwise. */
  readonly citus?: Pick<Sentencia, 'text' | 'parametros'> & Pick<PorMotor, 'porTurno'>
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
  readonly motor: Motor
  /** As whom it is asked; undefined: as whoever the pool connects as. */
  readonly ambito?: Ambito | undefined
  /** The same database, asked as somebody. */
  como(rol: Rol, comercios?: readonly string[]): Db
  cerrar(): Promise<void>
}

/**
 * Runs statements on one connection as one transaction: all of it is there afterwards, or nothing.
 * @param hacer is done again from its beginning when a migration came between (`Conexiones.trasMigrar`)
 */
export const enTransaccion = <T>(db: Pick<Db, 'pool' | 'ambito'>, hacer: EnTransaccion<T>): Promise<T> =>
  db.pool.trasMigrar(() => unaTransaccion(db, hacer))

type EnTransaccion<T> = (consultar: Consultar, cliente: pg.PoolClient) => Promise<T>

async function unaTransaccion<T>({ pool, ambito }: Pick<Db, 'pool' | 'ambito'>, hacer: EnTransaccion<T>): Promise<T> {
  const cliente = await pool.connect()
  try {
    await cliente.query(pool.comenzar(ambito))
    const hecho = await hacer(enConexion(pool, cliente, ambito), cliente)
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

/**
 * A statement with parameters `:by_name`, which PostgreSQL gets as `$1`, `$2`… `test/db/sentencias.test.ts` holds the types
 * that are claimed here against what PostgreSQL says of the statement.
 * @param sql one text for both engines, unless Citus can't do it
 */
export function sentencia<Parametros = object, Fila = object>(
  name: string,
  sql: string | PorMotor,
): Sentencia<Parametros, Fila> {
  if (SENTENCIAS.has(name)) throw new Error(`there are two statements named ${name}`)
  const hecha =
    typeof sql === 'string'
      ? { name, ...numerar(sql) }
      : { name, ...numerar(sql.postgres), citus: { ...numerar(sql.citus), porTurno: sql.porTurno } }
  SENTENCIAS.set(name, hecha)
  return hecha
}

function numerar(sql: string): Pick<Sentencia, 'text' | 'parametros'> {
  const parametros: string[] = []
  const text = sql.replace(PARAMETRO, (_todo, nombre: string) => {
    if (!parametros.includes(nombre)) parametros.push(nombre)
    return `$${parametros.indexOf(nombre) + 1}`
  })
  return { text, parametros }
}

/**
 * A statement whose text depends on what is asked. A prepared text stays in the memory of each connection for as long as that
 * lives: 768 forms of the list of guides took 292 MB of one. So only few of them may be.
 * @param comun whether this text is one of the few that are asked for again and again
 */
export const sentenciaDe = <Parametros = object, Fila = object>(
  sql: string,
  comun: boolean,
): Sentencia<Parametros, Fila> => ({ name: comun ? nombreDe(sql) : undefined, ...numerar(sql) })

type Escrita = Pick<Sentencia, 'name' | 'text' | 'parametros' | 'citus'>

const configDe = (motor: Motor, { name, citus, ...deTodos }: Escrita, valores: unknown): pg.QueryConfig => {
  const { text, parametros } = motor === 'citus' ? (citus ?? deTodos) : deTodos
  const values = parametros.map((nombre) => (valores as Readonly<Record<string, unknown>>)[nombre])
  return name === undefined ? { text, values } : { name, text, values }
}

/** What has to be done first in a statement's transaction. */
const antesDe = (motor: Motor, { citus }: Escrita) => (motor === 'citus' && citus?.porTurno ? [TOMAR_TURNO] : [])

/** What runs statements as somebody. */
export const consultarCon =
  (conexiones: Conexiones, ambito?: Ambito): Consultar =>
  async (sentencia, ...[valores]) => {
    const { motor } = conexiones
    return (await conexiones.preguntar(ambito, configDe(motor, sentencia, valores), antesDe(motor, sentencia))).rows
  }

/** What runs them on one connection, which was told as whom when its transaction began. */
const enConexion =
  (conexiones: Conexiones, cliente: pg.PoolClient, ambito: Ambito | undefined): Consultar =>
  async (sentencia, ...[valores]) => {
    for (const antes of antesDe(conexiones.motor, sentencia)) await cliente.query(antes)
    return (await cliente.query(conexiones.llamar(ambito, configDe(conexiones.motor, sentencia, valores)))).rows
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
  let cliente: Promise<PrismaClient> | undefined
  const cargar = () => {
    cliente ??= cargarPrisma(pool)
    return cliente
  }
  const como = (ambito?: Ambito): Db => ({
    pool,
    motor: pool.motor,
    ambito,
    prisma: alPrimerUso(cargar, ambito),
    consultar: consultarCon(pool, ambito),
    como: (rol, comercios = []) => como({ rol, comercios }),
    async cerrar() {
      await (await cliente)?.$disconnect()
      await pool.end()
    },
  })
  return como()
}

type Metodos = Record<string, (...argumentos: unknown[]) => unknown>

/** `prisma.model.method(…)`, of a client that the call waits for. */
const alPrimerUso = (cargar: () => Promise<PrismaClient>, ambito: Ambito | undefined): Modelos =>
  new Proxy({} as Modelos, {
    get: (_nada, modelo: string) =>
      new Proxy({} as Metodos, {
        get:
          (_nada, metodo: string) =>
          async (...argumentos: unknown[]) => {
            const cliente = (await cargar()) as unknown as Record<string, Metodos>
            return enAmbito(ambito, async () => cliente[modelo]![metodo]!(...argumentos))
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
