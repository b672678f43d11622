import type pg from 'pg'
import type { PrismaClient } from '../generado/contrato/prisma/client.ts'
import { Problema } from '../platform/errors.ts'
import { currentSpan, inSpan } from '../platform/tracing.ts'
import { type ConnectionOptions, Connections, forPrisma, isFullDisk, statementName } from './connections.ts'
import type { Part, Place } from './parts.ts'
import { inScope, type Plan, type QueryOrigin, type Role, type RowScope } from './scope.ts'

/**
 * Rows that a statement is about. On Citus, merchants' rows lie in several databases (parts), and this value decides
 * where the statement runs. `parte`: rows of one merchant, or of several merchants of the same part; the statement runs
 * in that part. `todo`: rows of all merchants, or rows that belong to no merchant. `donde_sea`: any rows; the statement
 * runs where the given database is.
 */
export type StatementReach = 'parte' | 'todo' | 'donde_sea'

/** SQL statement with its parameters. */
export interface Statement<Parametros = object, Fila = object> {
  /**
   * Name under which each connection prepares the statement. Without a name PostgreSQL parses and plans the statement
   * each time.
   */
  readonly name: string | undefined
  /** SQL with `$1`, `$2`… in place of the source's named parameters. */
  readonly text: string
  /** Names of the parameters, in the order of their numbers. */
  readonly parametros: readonly string[]
  readonly alcance: StatementReach
  readonly plan?: Plan | undefined
  /** Types of the parameters and of a row. They exist only for the compiler. */
  readonly tipos?: (parametros: Parametros) => Fila
}

/**
 * Row with the types of Prisma's model of its table. `Precisas` narrows columns whose type PostgreSQL cannot express:
 * the allowed words of a text, or the structure of a JSON value.
 */
export type RowOf<Modelo, Precisas extends { [C in keyof Precisas]: C extends keyof Modelo ? unknown : never }> = Omit<
  Modelo,
  keyof Precisas
> &
  Precisas

/** Row as JSON represents it: timestamps are strings. */
export type InJson<Fila> = {
  [C in keyof Fila]: Fila[C] extends Date ? string : Fila[C] extends Date | null ? string | null : Fila[C]
}

/**
 * SQL list of columns in which timestamps (names that end in `_en`) are texts, as in {@link InJson}. Timestamps that
 * are only shown need no Date.
 * @param de prefix of the columns, such as `g.`
 */
export const withTexts = (columnas: readonly string[], de = '') =>
  columnas.map((c) => (c.endsWith('_en') ? `${de}${c}::text as ${c}` : `${de}${c}`)).join(', ')

type Modelos = Omit<PrismaClient, `$${string}`>

/** Values by parameter name; none for a statement without parameters. */
type Valores<Parametros> = keyof Parametros extends never ? [] : [valores: NoInfer<Parametros>]

/** Runs a statement and returns its rows. */
export type Query = <Parametros, Fila>(
  sentencia: Statement<Parametros, Fila>,
  ...valores: Valores<Parametros>
) => Promise<Fila[]>

/**
 * Database. Prisma serves queries that take one call of its client. `consultar` serves the hot paths, and queries that
 * Prisma cannot express: several writes in one statement, xid8. Each `Statement` stands beside the operation that needs
 * it.
 */
export interface Db {
  /**
   * Prisma's models. The client loads at the first call of a method, because loading takes time and the hot paths do
   * not need it.
   */
  readonly prisma: Modelos
  readonly pool: Connections
  readonly consultar: Query
  /** Role of the statements, and merchants whose rows they see. Undefined: the role with which the pool connects. */
  readonly ambito?: RowScope | undefined
  /**
   * Database (part of a Citus cluster) in which statements about the rows of one part run. Undefined: each statement
   * runs in the part of the merchant that it names.
   */
  readonly lugar?: Place | undefined
  /**
   * Returns the same database, but its statements run with this role. The role `guias_api` sees only the rows of the
   * given merchants.
   */
  como(rol: Role, comercios?: readonly string[]): Db
  /**
   * Returns the same database, but its statements run in the part that has this merchant's rows. On Citus that part
   * also has rows of other merchants.
   */
  de(comercio_id: string): Db
  /** Returns the same database, but its statements run in the part with this number. */
  enParte(numero: number): Db
  /** The same database without a chosen part, for rows that belong to no merchant. */
  readonly central: Db
  /** Returns one database object per part of a Citus cluster; a single one if one machine has all rows. */
  partes(): readonly Db[]
  cerrar(): Promise<void>
}

/**
 * Reports whether merchants' rows lie in several databases (Citus). Some of them may be unreachable while others work.
 */
export const isDistributed = ({ pool }: Pick<Db, 'pool'>): boolean => pool.parts !== undefined

/**
 * Runs statements on one connection as one transaction: all of them take effect, or none.
 * @param hacer runs again from its beginning if a migration changed tables meanwhile (`Connections.afterMigration`)
 */
export const inTransaction = <T>(
  { pool, ambito, lugar }: Pick<Db, 'pool' | 'ambito' | 'lugar'>,
  hacer: EnTransaccion<T>,
): Promise<T> =>
  pool.atPlace(lugar, (conexiones, parte) =>
    conexiones.afterMigration(() => unaTransaccion(conexiones, parte, ambito, hacer)),
  )

type EnTransaccion<T> = (consultar: Query, cliente: pg.PoolClient) => Promise<T>

async function unaTransaccion<T>(
  conexiones: Connections,
  parte: Part | undefined,
  ambito: RowScope | undefined,
  hacer: EnTransaccion<T>,
): Promise<T> {
  const cliente = await conexiones.connect()
  try {
    await cliente.query(conexiones.begin(ambito, parte))
    const hecho = await hacer(async (sentencia, ...[valores]) => {
      if (parte && sentencia.alcance === 'todo') throw new Error(`${sentencia.name} is not about rows of one part`)
      const config = conexiones.call(ambito, configDe(sentencia, valores), parte)
      return (await traced(sentencia, () => cliente.query(config))).rows
    }, cliente)
    await cliente.query('commit')
    cliente.release()
    return hecho
  } catch (error) {
    cliente.release(!(await rolledBack(cliente, error)))
    throw error
  }
}

/**
 * Rolls back a failed transaction whose connection is still usable: the code rejected the work, or the disk was full
 * ({@link isFullDisk}).
 * @returns false if the connection must be closed instead, which also ends the transaction
 */
async function rolledBack(cliente: pg.PoolClient, error: unknown): Promise<boolean> {
  if (!(error instanceof Problema || isFullDisk(error))) return false
  try {
    await cliente.query('rollback')
    return true
  } catch {
    return false
  }
}

/** Pattern of a parameter `:name`. It matches neither `::type` nor a colon behind a letter. */
const PARAMETRO = /(?<![:\w]):([a-z]\w*)/g

/** All statements of the process whose text is fixed, by name. */
export const STATEMENTS = new Map<string, Statement>()

/** Options of a statement. */
interface OpcionesDeSentencia {
  /**
   * Rows that the statement is about. Default: the rows of the merchant in the parameter `comercio_id`; without this
   * parameter, the rows of all merchants.
   */
  alcance?: StatementReach
  /**
   * Way in which PostgreSQL plans the statement. Default: its own choice.
   *
   * Without `generic` PostgreSQL plans a list anew for each request. A generic plan assumes that a `limit` parameter
   * takes a tenth of the rows, so PostgreSQL considers it expensive and never chooses it. A page of events then costs
   * twice as much. Use `generic` only for statements whose rows one index gives in order, with any parameters:
   * `test/db/planes.test.ts` checks this.
   *
   * Without `ordered` PostgreSQL may read and sort all rows of a merchant to find the first of them. It expects too few
   * rows of a big merchant, because row-level security repeats the condition on the merchant. Use `ordered` only for
   * statements whose `order by` is the order of an index: `test/db/filtros.test.ts` checks this.
   */
  plan?: Plan
}

/**
 * Makes a statement with a fixed text. Replaces its named parameters (`:comercio_id`) with `$1`, `$2`…
 * `test/db/sentencias.test.ts` checks the declared types against PostgreSQL's.
 * @throws if another statement has the same name
 */
export function statement<Parametros = object, Fila = object>(
  name: string,
  sql: string,
  opciones: OpcionesDeSentencia = {},
): Statement<Parametros, Fila> {
  if (STATEMENTS.has(name)) throw new Error(`two statements have the name ${name}`)
  const hecha = { name, ...numerar(sql), ...opciones }
  STATEMENTS.set(name, hecha)
  return hecha
}

function numerar(sql: string): Pick<Statement, 'text' | 'parametros' | 'alcance'> {
  const parametros: string[] = []
  const text = sql.replace(PARAMETRO, (_todo, nombre: string) => {
    if (!parametros.includes(nombre)) parametros.push(nombre)
    return `$${parametros.indexOf(nombre) + 1}`
  })
  return { text, parametros, alcance: parametros.includes('comercio_id') ? 'parte' : 'todo' }
}

/**
 * Makes a statement whose text depends on the request. A connection keeps each prepared text in memory as long as the
 * connection lives. For example, 768 variants of the list of guides took 292 MB in one connection. Only the common
 * texts are therefore prepared.
 * @param comun true if this text is one of the few common ones
 */
export const dynamicStatement = <Parametros = object, Fila = object>(
  sql: string,
  comun: boolean,
  opciones: OpcionesDeSentencia = {},
): Statement<Parametros, Fila> => ({ name: comun ? statementName(sql) : undefined, ...numerar(sql), ...opciones })

type Escrita = Pick<Statement, 'name' | 'text' | 'parametros' | 'alcance'>

const configDe = ({ name, text, parametros }: Escrita, valores: unknown): pg.QueryConfig => {
  const values = parametros.map((nombre) => (valores as Readonly<Record<string, unknown>>)[nombre])
  return name === undefined ? { text, values } : { name, text, values }
}

/**
 * Finds where a statement runs: in a part, if the statement is about rows of one part and the part is known.
 * @throws if the statement needs a part, and neither the database nor a parameter names one
 */
function lugarDe({ name, alcance }: Escrita, valores: unknown, lugar: Place | undefined): Place | undefined {
  if (alcance !== 'parte' || lugar) return alcance === 'todo' ? undefined : lugar
  const comercio_id = (valores as { comercio_id?: unknown } | undefined)?.comercio_id
  if (comercio_id === undefined) throw new Error(`statement ${name} needs a part or the parameter comercio_id`)
  return typeof comercio_id === 'string' ? { merchant: comercio_id } : undefined
}

/**
 * Runs a statement, and records it as a span of the current request's or job's trace. Without a current trace, records
 * nothing.
 */
const traced = <T>({ name = 'dynamic' }: Escrita, run: () => Promise<T>): Promise<T> =>
  currentSpan()
    ? inSpan(name, { kind: 'client', attributes: { 'db.system.name': 'postgresql', 'db.query.summary': name } }, run)
    : run()

/** Makes a function that runs statements with this role and these visible merchants, where their rows lie. */
export const queryWith =
  (conexiones: Connections, { ambito, lugar }: QueryOrigin = {}): Query =>
  async (sentencia, ...[valores]) => {
    const donde = conexiones.parts ? lugarDe(sentencia, valores, lugar) : undefined
    const config = configDe(sentencia, valores)
    return (await traced(sentencia, () => conexiones.ask({ ambito, lugar: donde }, config, sentencia.plan))).rows
  }

/** Options of {@link openDb}. */
export interface DbOptions extends ConnectionOptions {
  /**
   * Maximum connections of this process. Default: 8. Measured: 16 connections are no faster than 8, and 4 lose a third
   * of the throughput.
   */
  conexiones?: number
  /** Value of `application_name` for the sessions, to which the process's pid is added. */
  nombre?: string
  /** Called with the error of an idle connection, which belongs to no request. */
  alFallar?: (error: Error) => void
}

/** Opens a pool of connections to the database. Prisma's client loads only at its first use. */
export function openDb(url: string, opciones: DbOptions = {}): Db {
  const { conexiones = 8, nombre = 'guias', alFallar = () => {}, ...sesiones } = opciones
  const pool = new Connections(url, conexiones, `${nombre} pid=${process.pid}`, sesiones)
  pool.on('error', alFallar)
  return new DbAbierta(pool, new ClienteDePrisma(pool), {})
}

/** Prisma's client, loaded at its first use. */
class ClienteDePrisma {
  readonly #pool: Connections
  #cliente: Promise<PrismaClient> | undefined

  constructor(pool: Connections) {
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
  readonly pool: Connections
  readonly ambito: RowScope | undefined
  readonly lugar: Place | undefined
  readonly consultar: Query
  readonly #cliente: ClienteDePrisma

  constructor(pool: Connections, cliente: ClienteDePrisma, { ambito, lugar }: QueryOrigin) {
    this.pool = pool
    this.ambito = ambito
    this.lugar = lugar
    this.consultar = queryWith(pool, { ambito, lugar })
    this.#cliente = cliente
  }

  get prisma(): Modelos {
    return alPrimerUso(this.#cliente.cargar, this)
  }

  como(rol: Role, comercios: readonly string[] = []): Db {
    return this.#desde({ rol, comercios }, this.lugar)
  }

  de(comercio_id: string): Db {
    return this.pool.parts ? this.#desde(this.ambito, { merchant: comercio_id }) : this
  }

  enParte(numero: number): Db {
    return this.#desde(this.ambito, { part: numero })
  }

  get central(): Db {
    return this.lugar ? this.#desde(this.ambito, undefined) : this
  }

  partes(): readonly Db[] {
    return this.pool.parts?.parts().map(({ number }) => this.enParte(number)) ?? [this]
  }

  async cerrar(): Promise<void> {
    await this.#cliente.cerrar()
    await this.pool.end()
  }

  #desde(ambito: RowScope | undefined, lugar: Place | undefined): Db {
    return new DbAbierta(this.pool, this.#cliente, { ambito, lugar })
  }
}

type Metodos = Record<string, (...argumentos: unknown[]) => unknown>

/** Proxy for calls of `prisma.model.method(…)`: each call first waits until the client has loaded. */
const alPrimerUso = (cargar: () => Promise<PrismaClient>, desde: QueryOrigin): Modelos =>
  new Proxy({} as Modelos, {
    get: (_nada, modelo: string) =>
      new Proxy({} as Metodos, {
        get:
          (_nada, metodo: string) =>
          async (...argumentos: unknown[]) => {
            const cliente = (await cargar()) as unknown as Record<string, Metodos>
            return inScope(desde, async () => cliente[modelo]![metodo]!(...argumentos))
          },
      }),
  })

async function cargarPrisma(pool: Connections): Promise<PrismaClient> {
  const [{ PrismaPg }, { PrismaClient: Cliente }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('../generado/contrato/prisma/client.ts'),
  ])
  // Names are made for Prisma's statements, because PostgreSQL keeps no prepared statement without a name.
  const adapter = new PrismaPg(forPrisma(pool), { statementNameGenerator: ({ sql }) => statementName(sql) })
  // Prisma's long messages quote the arguments, which must not be in a log.
  return new Cliente({ errorFormat: 'minimal', adapter })
}
