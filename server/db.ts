import { hash } from 'node:crypto'
import pg from 'pg'
import type { PrismaClient } from './contrato/generado/prisma/client.ts'

/** A statement for the hot paths, prepared once per connection under its name. */
export interface Sentencia {
  name: string
  text: string
}

/**
 * The database. Prisma for what it says in one query; `consultar` for the few statements it cannot (several writes in one
 * statement, xid8): each stands as a `Sentencia` beside the operation that needs it.
 */
export interface Db {
  /** Loaded at its first use: it takes its time, and the hot paths don't need it. */
  prisma(): Promise<PrismaClient>
  readonly pool: pg.Pool
  consultar<Fila>(sentencia: Sentencia, valores: readonly unknown[]): Promise<Fila[]>
  cerrar(): Promise<void>
}

/** Runs statements on one connection as one transaction: all of it is there afterwards, or nothing. */
export async function enTransaccion<T>(
  { pool }: Pick<Db, 'pool'>,
  hacer: (consultar: Db['consultar'], cliente: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const cliente = await pool.connect()
  try {
    await cliente.query('begin')
    const hecho = await hacer(
      async <Fila>({ name, text }: Sentencia, valores: readonly unknown[]) =>
        (await cliente.query({ name, text, values: valores as unknown[] })).rows as Fila[],
      cliente,
    )
    await cliente.query('commit')
    cliente.release()
    return hecho
  } catch (error) {
    // The connection's state is unknown: it goes, and its transaction with it.
    cliente.release(true)
    throw error
  }
}

export const sentencia = (name: string, text: string): Sentencia => ({ name, text })

const nombres = new Map<string, string>()

/** A statement whose text depends on what is asked (few different ones): its name is its text's digest. */
export function sentenciaDe(text: string): Sentencia {
  const name = nombres.get(text) ?? hash('sha1', text)
  nombres.set(text, name)
  return { name, text }
}

/** pg-boss's statements are few and come again and again; those without parameters may be several in one text. */
export const preparada = (text: string, values: unknown[] | undefined): pg.QueryConfig =>
  values === undefined || values.length === 0 ? { text } : { ...sentenciaDe(text), values }

export interface OpcionesDeDb {
  /** Connections of this process; 8 serve as well as 16 (measured), 4 cost a third. */
  conexiones?: number
  /** Called with errors of idle connections, which are no request's. */
  alFallar?: (error: Error) => void
}

/**
 * No request may hold a connection for ever: the server stops a long statement, the client gives a dead server up.
 * @param options settings of every session, as the server's command line has them
 */
export function abrirPool(url: string, max: number, application_name: string, options?: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name,
    ...(options === undefined ? {} : { options }),
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    statement_timeout: 7_000,
    query_timeout: 8_000,
  })
  // A connection that is lost in somebody's hands fails his statement; the event that says so again must not end the process.
  pool.on('connect', (cliente) => cliente.on('error', () => {}))
  return pool
}

export function abrirDb(url: string, { conexiones = 8, alFallar = () => {} }: OpcionesDeDb = {}): Db {
  const pool = abrirPool(url, conexiones, `guias pid=${process.pid}`)
  pool.on('error', alFallar)
  let prisma: Promise<PrismaClient> | undefined
  return {
    pool,
    prisma: () => {
      prisma ??= cargarPrisma(pool)
      return prisma
    },
    async consultar<Fila>({ name, text }: Sentencia, valores: readonly unknown[]) {
      const { rows } = await pool.query({ name, text, values: valores as unknown[] })
      return rows as Fila[]
    },
    async cerrar() {
      await (await prisma)?.$disconnect()
      await pool.end()
    },
  }
}

async function cargarPrisma(pool: pg.Pool): Promise<PrismaClient> {
  const [{ PrismaPg }, { PrismaClient: Cliente }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('./contrato/generado/prisma/client.ts'),
  ])
  // Without names nothing of Prisma's is prepared.
  const adapter = new PrismaPg(pool, { statementNameGenerator: ({ sql }) => sentenciaDe(sql).name })
  // Its long messages quote the arguments, which have no place in a log.
  return new Cliente({ errorFormat: 'minimal', adapter })
}
