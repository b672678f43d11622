import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Engine } from '../data/citus/distribute.ts'
import { beforeMigrating, type PreparedEngine, prepareEngine } from '../data/engine.ts'
import { raiseXidOffsetIfNeeded } from '../data/eventOrder.ts'
import { ROOT } from '../platform/root.ts'
import { MINUTE_MS } from '../platform/time/units.ts'

const MIGRATIONS_FOLDER = new URL('prisma/migrations/', ROOT)
/** Advisory lock of Prisma: `prisma migrate` and all starts of the service wait for each other with it. */
const LOCK_KEY = 72_707_369
/** Longest wait for the lock, and interval between two attempts to take it, in milliseconds. */
const LOCK_WAIT_MS = MINUTE_MS
const LOCK_POLL_MS = 50

/**
 * Longest wait of a migration for a table in use, because requests that come later wait behind the migration. The wait
 * is shorter than the second after which PostgreSQL looks for deadlocks. PostgreSQL therefore never ends a request
 * because of a deadlock with a migration.
 */
const TABLE_LOCK_TIMEOUT = '400ms'
/**
 * Attempts of a migration, and pause between two attempts in milliseconds. Together they take minutes, in which
 * requests go on.
 */
const INTENTOS = 300
const RETRY_PAUSE_MS = 400

/** Prisma's table of migrations. The commands `prisma migrate deploy` and `status` therefore see the same history. */
const TABLE_SQL = `create table if not exists _prisma_migrations (
  id varchar(36) primary key not null, checksum varchar(64) not null, finished_at timestamptz,
  migration_name varchar(255) not null, logs text, rolled_back_at timestamptz,
  started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`

interface Migration {
  nombre: string
  sql: string
  checksum: string
}

/** Error: the schema could not be brought up to date. The message, in Spanish, addresses the operator. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** Reads the files of `prisma/migrations`, in the order of their folders' names. */
export async function readMigrations(): Promise<Migration[]> {
  const folders = (await readdir(MIGRATIONS_FOLDER, { withFileTypes: true })).filter((dirent) => dirent.isDirectory())
  return Promise.all(
    folders
      .map(({ name }) => name)
      .sort()
      .map(async (nombre) => {
        const sql = await readFile(new URL(`${nombre}/migration.sql`, MIGRATIONS_FOLDER), 'utf8')
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
  return withLock(url, async (client) => {
    const migraciones = await migrateWith(client)
    await followOrder(client)
    return migraciones
  })
}

/**
 * Does the work of {@link migrate}, and also finds the database's engine. Distributes the tables over the machines if
 * the engine is Citus.
 */
export async function prepareDatabase(
  url: string,
  configured?: Engine,
): Promise<PreparedEngine & { migraciones: string[] }> {
  return withLock(url, async (client) => {
    const migraciones = await migrateWith(client)
    const kept = await prepareEngine(client, url, configured)
    if (kept.engine === 'postgres') await followOrder(client)
    return { migraciones, ...kept }
  })
}

/**
 * Raises the order of events if the database was moved or restored.
 * @throws MigrationError if the database's role may not change the functions of this order, because another role owns
 *   them
 */
async function followOrder(client: pg.Client): Promise<void> {
  await raiseXidOffsetIfNeeded(client).catch((cause: Error) => {
    throw new MigrationError(
      `La base viene de otro servidor o de un respaldo, y no se pudo seguir el orden de sus eventos: ${cause.message}. El rol del servicio debe ser dueño de sus tablas y funciones.`,
      { cause },
    )
  })
}

/** Changes the schema while holding the migrations' lock, so that no other migration runs meanwhile. */
async function withLock<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: 'guias migraciones',
  })
  client.on('error', () => {}) // A lost connection also rejects the running query, which reports the error.
  await client.connect()
  try {
    await takeLock(client)
    return await work(client)
  } finally {
    await client.end() // The lock is released when the session ends.
  }
}

/**
 * Polls until this session holds the lock. A statement must not wait for the lock: `create index concurrently` waits
 * for all running statements. The migration that creates the index holds the lock, so neither statement would end.
 * @throws MigrationError after 60 seconds
 */
async function takeLock(client: pg.Client): Promise<void> {
  for (const deadline = performance.now() + LOCK_WAIT_MS; ; await sleep(LOCK_POLL_MS)) {
    const { rows } = await client.query<{ own: boolean }>('select pg_try_advisory_lock($1) as own', [LOCK_KEY])
    if (rows[0]!.own) return
    if (performance.now() > deadline)
      throw new MigrationError('Otro proceso lleva más de un minuto preparando esta base. Espérelo, o termínelo.')
  }
}

async function migrateWith(client: pg.Client): Promise<string[]> {
  await client.query(TABLE_SQL)
  const { rows } = await client.query<{ migration_name: string; checksum: string; finished_at: Date | null }>(
    'select migration_name, checksum, finished_at from _prisma_migrations where rolled_back_at is null',
  )
  const appliedRows = new Map(rows.map((row) => [row.migration_name, row]))
  const appliedNames: string[] = []
  for (const migration of await readMigrations()) {
    const appliedRow = appliedRows.get(migration.nombre)
    if (appliedRow) checkApplied(migration, appliedRow)
    else {
      await applyMigration(client, migration)
      appliedNames.push(migration.nombre)
    }
  }
  // A migration may have changed this session's `lock_timeout`.
  await client.query('reset lock_timeout')
  return appliedNames
}

function checkApplied({ nombre, checksum }: Migration, appliedRow: { checksum: string; finished_at: Date | null }) {
  if (appliedRow.finished_at === null) {
    throw new MigrationError(
      `La migración ${nombre} quedó a medias. Revise la base y márquela con «prisma migrate resolve».`,
    )
  }
  if (appliedRow.checksum !== checksum) {
    throw new MigrationError(
      `La migración ${nombre} se editó después de aplicarse. Devuélvala a como estaba y escriba otra.`,
    )
  }
}

/** SQLSTATEs of obstacles that pass: a table in use (55P03), a deadlock (40P01). */
const TRANSIENT_CODES = ['55P03', '40P01']

/**
 * Migrations that create an index concurrently. `create index concurrently` blocks no request and cannot start again
 * after a failure, so `lock_timeout` is off.
 */
const CREATES_INDEX = /^create (unique )?index concurrently/im

async function runSql(client: pg.Client, sql: string): Promise<void> {
  await client.query(`set lock_timeout = '${CREATES_INDEX.test(sql) ? 0 : TABLE_LOCK_TIMEOUT}'`)
  for (let attemptsLeft = INTENTOS; attemptsLeft > 0; attemptsLeft--) {
    try {
      await client.query(sql)
      return
    } catch (error) {
      if (attemptsLeft === 1 || !(error instanceof pg.DatabaseError && TRANSIENT_CODES.includes(error.code!)))
        throw error
      await sleep(RETRY_PAUSE_MS)
    }
  }
}

async function applyMigration(client: pg.Client, { nombre, sql, checksum }: Migration) {
  const id = randomUUID()
  await client.query('insert into _prisma_migrations (id, checksum, migration_name) values ($1, $2, $3)', [
    id,
    checksum,
    nombre,
  ])
  try {
    await beforeMigrating(client, sql)
    await runSql(client, await adaptToServer(client, sql))
  } catch (cause) {
    await client.query('update _prisma_migrations set logs = $2 where id = $1', [id, String(cause)])
    throw new MigrationError(
      `La migración ${nombre} falló y no cambió nada: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    )
  }
  await client.query('update _prisma_migrations set finished_at = now(), applied_steps_count = 1 where id = $1', [id])
}

/**
 * Adapts a migration to the server's version. Before PostgreSQL 16, a role needs the privilege `MEMBER` to become
 * another role; since then, `SET`.
 */
async function adaptToServer(client: pg.Client, sql: string): Promise<string> {
  const { rows } = await client.query<{ de: number }>(`select current_setting('server_version_num')::int as de`)
  return rows[0]!.de < 160_000 ? sql.replaceAll("rol, 'SET'", "rol, 'MEMBER'") : sql
}
