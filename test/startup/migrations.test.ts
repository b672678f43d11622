import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { MigrationError, migrate, readMigrations } from '../../server/startup/migrations.ts'
import { HAS_LOCK_TIMEOUTS } from '../childEnvironment.ts'
import { findDrift } from '../drift.ts'
import { waitUntil } from '../factories.ts'
import { admin } from '../postgres.ts'
import { type TestProcess, useProcesses } from '../processes.ts'

const processes = useProcesses()
const bases: string[] = []
let url: string

/** A database of its own for each case. */
beforeEach(async () => {
  const name = `t_migr_${randomBytes(4).toString('hex')}`
  await admin((client) => client.query(`create database ${name}`))
  bases.push(name)
  url = Object.assign(new URL(inject('postgres')), { pathname: `/${name}` }).href
})
afterAll(() =>
  admin(async (client) => {
    for (const base of bases) await client.query(`drop database if exists ${base} with (force)`)
  }),
)

async function query(sql: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
const recordedHistory = () =>
  query(
    'select migration_name, checksum, finished_at is not null as applied, applied_steps_count from _prisma_migrations',
  )

describe('migrar()', () => {
  it('from six processes at once applies each migration once', async () => {
    const names = (await readMigrations()).map(({ nombre }) => nombre)
    expect(names.length).toBeGreaterThan(0)
    const codigo = `
      const { migrate } = await import('./server/startup/migrations.ts')
      console.log(JSON.stringify(await migrate(${JSON.stringify(url)})))`
    // All six ask for the lock before the first one gets it.
    const lockHolder = new pg.Client({ connectionString: url })
    await lockHolder.connect()
    let sixProcesses: TestProcess[]
    try {
      await lockHolder.query('select pg_advisory_lock(72707369)')
      sixProcesses = Array.from({ length: 6 }, () =>
        processes.runCommand([process.execPath, '--input-type=module', '-e', codigo]),
      )
      await waitUntil(async () => {
        const { rowCount } = await lockHolder.query(
          `select 1 from pg_stat_activity where application_name = 'guias migraciones' and datname = current_database()
             and query like '%pg_try_advisory_lock%'`,
        )
        return rowCount === 6
      })
    } finally {
      await lockHolder.end()
    }
    for (const one of sixProcesses) expect([(await one.waitForEnd()).codigo, one.errores]).toEqual([0, ''])
    const aplicadas = sixProcesses.map(({ output }) => JSON.parse(output) as string[])
    expect(aplicadas.filter((list) => list.length > 0)).toEqual([names])
    expect(await recordedHistory()).toEqual(
      (await readMigrations()).map(({ nombre, checksum }) => ({
        migration_name: nombre,
        checksum,
        applied: true,
        applied_steps_count: 1,
      })),
    )
    expect(await migrate(url)).toEqual([])
  })

  it('from six connections of one process, too', async () => {
    const aplicadas = await Promise.all(Array.from({ length: 6 }, () => migrate(url)))
    expect(aplicadas.filter((list) => list.length > 0)).toHaveLength(1)
    expect((await recordedHistory()).length).toBe(aplicadas.flat().length)
  })

  it.runIf(HAS_LOCK_TIMEOUTS)('gives way to a session that uses the same tables, and begins anew', async () => {
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    await other.query('begin; create table comercio (ya_estaba int)')
    const waiters = () =>
      query(`select from pg_stat_activity where datname = current_database()
        and application_name = 'guias migraciones' and wait_event_type = 'Lock'`)
    const runningMigration = migrate(url)
    for (const count of [1, 0, 1]) await waitUntil(async () => (await waiters()).length === count)
    await other.query('rollback')
    expect(await runningMigration).toEqual((await readMigrations()).map(({ nombre }) => nombre))
    await other.end()
  })

  it.each([
    ['edited after it was applied', `checksum = repeat('0', 64)`, /se editó después de aplicarse/],
    ['left half-finished', 'finished_at = null', /quedó a medias/],
  ])('stops at a migration that was %s, as often as it is asked', async (_description, cambio, mensaje) => {
    const [name] = await migrate(url)
    await query(`update _prisma_migrations set ${cambio} where migration_name = '${name}'`)
    const before = await recordedHistory()
    for (let time = 0; time < 2; time++) {
      const error = await migrate(url).catch((causa: unknown) => causa)
      expect(error).toBeInstanceOf(MigrationError)
      expect((error as Error).message).toMatch(mensaje)
      expect((error as Error).message).toContain(name)
    }
    expect(await recordedHistory()).toEqual(before)
  })

  it('one that fails changes nothing and stops the next start, too', async () => {
    await query('create table comercio (ya_estaba int)')
    const [name] = (await readMigrations()).map((migration) => migration.nombre)
    await expect(migrate(url)).rejects.toThrow(MigrationError)
    expect(await query(`select tablename from pg_tables where schemaname = 'public' order by 1`)).toEqual([
      { tablename: '_prisma_migrations' },
      { tablename: 'comercio' },
    ])
    await expect(migrate(url)).rejects.toThrow(new RegExp(`${name} quedó a medias`))
  })
})

describe('prisma/migrations and prisma/schema.prisma', () => {
  it('make the same database', async () => {
    await migrate(url)
    expect(await findDrift(url)).toBe('')
  })

  it.each([
    ['a column', 'alter table guia add column sobra int', /ALTER TABLE "guia" DROP COLUMN "sobra"/],
    ['a missing index', 'drop index guia_telefono_id_idx', /CREATE INDEX "guia_telefono_id_idx"/],
    ['a type', 'alter table guia alter column intentos type bigint', /"intentos" SET DATA TYPE INTEGER/],
    ['a table', 'create table olvidada (id int primary key)', /DROP TABLE "olvidada"/],
  ])('and the check sees %s that differs', async (_description, cambio, expected) => {
    await migrate(url)
    await query(cambio)
    expect(await findDrift(url)).toMatch(expected)
  })
})
