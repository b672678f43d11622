import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as dormir } from 'node:timers/promises'
import pg from 'pg'
import { beforeMigrating, type Engine, type Kept, prepareEngine } from '../data/engine.ts'
import { continueOrder } from '../data/order.ts'
import { ROOT } from '../platform/root.ts'

const CARPETA = new URL('prisma/migrations/', ROOT)
/** Advisory lock of Prisma: `prisma migrate` and all starts of the service wait for each other with it. */
const CERROJO = 72_707_369
/** Longest wait for the lock, and interval between two attempts to take it, in milliseconds. */
const ESPERA_DEL_CERROJO = 60_000
const PREGUNTA = 50

/**
 * Longest wait of a migration for a table in use, because requests that come later wait behind the migration. The wait
 * is shorter than the second after which PostgreSQL looks for deadlocks. PostgreSQL therefore never ends a request
 * because of a deadlock with a migration.
 */
const ESPERA_DE_TABLA = '400ms'
/**
 * Attempts of a migration, and pause between two attempts in milliseconds. Together they take minutes, in which
 * requests go on.
 */
const INTENTOS = 300
const DESCANSO = 400

/** Prisma's table of migrations. The commands `prisma migrate deploy` and `status` therefore see the same history. */
const TABLA = `create table if not exists _prisma_migrations (
  id varchar(36) primary key not null, checksum varchar(64) not null, finished_at timestamptz,
  migration_name varchar(255) not null, logs text, rolled_back_at timestamptz,
  started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`

interface Migracion {
  nombre: string
  sql: string
  checksum: string
}

/** Error: the schema could not be brought up to date. The message, in Spanish, addresses the operator. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** Reads the files of `prisma/migrations`, in the order of their folders' names. */
export async function readMigrations(): Promise<Migracion[]> {
  const carpetas = (await readdir(CARPETA, { withFileTypes: true })).filter((entrada) => entrada.isDirectory())
  return Promise.all(
    carpetas
      .map(({ name }) => name)
      .sort()
      .map(async (nombre) => {
        const sql = await readFile(new URL(`${nombre}/migration.sql`, CARPETA), 'utf8')
        return { nombre, sql, checksum: createHash('sha256').update(sql).digest('hex') }
      }),
  )
}

/**
 * Applies the missing files of `prisma/migrations`, each as one simple query, which is one transaction. A migration
 * that meets tables in use gives way and starts again, because requests go on meanwhile.
 * @returns names of the migrations applied now
 * @throws MigrationError if a file failed, or was edited after it was applied; the start then stops
 */
export async function migrate(url: string): Promise<string[]> {
  return conCerrojo(url, async (cliente) => {
    const migraciones = await migrarCon(cliente)
    await seguirElOrden(cliente)
    return migraciones
  })
}

/**
 * Does the work of {@link migrate}, and also finds the database's engine. Distributes the tables over the machines if
 * the engine is Citus.
 */
export async function prepareDatabase(url: string, dicho?: Engine): Promise<Kept & { migraciones: string[] }> {
  return conCerrojo(url, async (cliente) => {
    const migraciones = await migrarCon(cliente)
    const kept = await prepareEngine(cliente, url, dicho)
    if (kept.engine === 'postgres') await seguirElOrden(cliente)
    return { migraciones, ...kept }
  })
}

/**
 * Raises the order of events if the database was moved or restored.
 * @throws MigrationError if the database's role may not change the functions of this order, because another role owns
 *   them
 */
async function seguirElOrden(cliente: pg.Client): Promise<void> {
  await continueOrder(cliente).catch((cause: Error) => {
    throw new MigrationError(
      `La base viene de otro servidor o de un respaldo, y no se pudo seguir el orden de sus eventos: ${cause.message}. El rol del servicio debe ser dueño de sus tablas y funciones.`,
      { cause },
    )
  })
}

/** Changes the schema while holding the migrations' lock, so that no other migration runs meanwhile. */
async function conCerrojo<T>(url: string, hacer: (cliente: pg.Client) => Promise<T>): Promise<T> {
  const cliente = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: 'guias migraciones',
  })
  cliente.on('error', () => {}) // A lost connection also rejects the running query, which reports the error.
  await cliente.connect()
  try {
    await tomarCerrojo(cliente)
    return await hacer(cliente)
  } finally {
    await cliente.end() // The lock is released when the session ends.
  }
}

/**
 * Polls until this session holds the lock. A statement must not wait for the lock: `create index concurrently` waits
 * for all running statements. The migration that creates the index holds the lock, so neither statement would end.
 * @throws MigrationError after 60 seconds
 */
async function tomarCerrojo(cliente: pg.Client): Promise<void> {
  for (const fin = performance.now() + ESPERA_DEL_CERROJO; ; await dormir(PREGUNTA)) {
    const { rows } = await cliente.query<{ suyo: boolean }>('select pg_try_advisory_lock($1) as suyo', [CERROJO])
    if (rows[0]!.suyo) return
    if (performance.now() > fin)
      throw new MigrationError('Otro proceso lleva más de un minuto preparando esta base. Espérelo, o termínelo.')
  }
}

async function migrarCon(cliente: pg.Client): Promise<string[]> {
  await cliente.query(TABLA)
  const { rows } = await cliente.query<{ migration_name: string; checksum: string; finished_at: Date | null }>(
    'select migration_name, checksum, finished_at from _prisma_migrations where rolled_back_at is null',
  )
  const hechas = new Map(rows.map((fila) => [fila.migration_name, fila]))
  const aplicadas: string[] = []
  for (const migracion of await readMigrations()) {
    const hecha = hechas.get(migracion.nombre)
    if (hecha) revisar(migracion, hecha)
    else {
      await aplicar(cliente, migracion)
      aplicadas.push(migracion.nombre)
    }
  }
  // A migration may have changed this session's `lock_timeout`.
  await cliente.query('reset lock_timeout')
  return aplicadas
}

function revisar({ nombre, checksum }: Migracion, hecha: { checksum: string; finished_at: Date | null }) {
  if (hecha.finished_at === null) {
    throw new MigrationError(
      `La migración ${nombre} quedó a medias. Revise la base y márquela con «prisma migrate resolve».`,
    )
  }
  if (hecha.checksum !== checksum) {
    throw new MigrationError(
      `La migración ${nombre} se editó después de aplicarse. Devuélvala a como estaba y escriba otra.`,
    )
  }
}

/** SQLSTATEs of obstacles that pass: a table in use (55P03), a deadlock (40P01). */
const DE_PASO = ['55P03', '40P01']

/**
 * Migrations that create an index concurrently. `create index concurrently` blocks no request and cannot start again
 * after a failure, so `lock_timeout` is off.
 */
const HACE_INDICE = /^create (unique )?index concurrently/im

async function ejecutar(cliente: pg.Client, sql: string): Promise<void> {
  await cliente.query(`set lock_timeout = '${HACE_INDICE.test(sql) ? 0 : ESPERA_DE_TABLA}'`)
  for (let quedan = INTENTOS; quedan > 0; quedan--) {
    try {
      await cliente.query(sql)
      return
    } catch (error) {
      if (quedan === 1 || !(error instanceof pg.DatabaseError && DE_PASO.includes(error.code!))) throw error
      await dormir(DESCANSO)
    }
  }
}

async function aplicar(cliente: pg.Client, { nombre, sql, checksum }: Migracion) {
  const id = randomUUID()
  await cliente.query('insert into _prisma_migrations (id, checksum, migration_name) values ($1, $2, $3)', [
    id,
    checksum,
    nombre,
  ])
  try {
    await beforeMigrating(cliente, sql)
    await ejecutar(cliente, await paraSuVersion(cliente, sql))
  } catch (cause) {
    await cliente.query('update _prisma_migrations set logs = $2 where id = $1', [id, String(cause)])
    throw new MigrationError(
      `La migración ${nombre} falló y no cambió nada: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    )
  }
  await cliente.query('update _prisma_migrations set finished_at = now(), applied_steps_count = 1 where id = $1', [id])
}

/**
 * Adapts a migration to the server's version. Before PostgreSQL 16, a role needs the privilege `MEMBER` to become
 * another role; since then, `SET`.
 */
async function paraSuVersion(cliente: pg.Client, sql: string): Promise<string> {
  const { rows } = await cliente.query<{ de: number }>(`select current_setting('server_version_num')::int as de`)
  return rows[0]!.de < 160_000 ? sql.replaceAll("rol, 'SET'", "rol, 'MEMBER'") : sql
}
