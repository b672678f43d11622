import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { MigrationError, migrate, readMigrations } from '../../server/startup/migrations.ts'
import { HAS_LOCK_TIMEOUTS } from '../childEnvironment.ts'
import { findDrift } from '../drift.ts'
import { hasta } from '../factories.ts'
import { admin } from '../postgres.ts'
import { type TestProcess, useProcesses } from '../processes.ts'

const procesos = useProcesses()
const bases: string[] = []
let url: string

/** A database of its own for each case. */
beforeEach(async () => {
  const nombre = `t_migr_${randomBytes(4).toString('hex')}`
  await admin((cliente) => cliente.query(`create database ${nombre}`))
  bases.push(nombre)
  url = Object.assign(new URL(inject('postgres')), { pathname: `/${nombre}` }).href
})
afterAll(() =>
  admin(async (cliente) => {
    for (const base of bases) await cliente.query(`drop database if exists ${base} with (force)`)
  }),
)

async function consultar(sql: string) {
  const cliente = new pg.Client({ connectionString: url })
  await cliente.connect()
  try {
    return (await cliente.query(sql)).rows
  } finally {
    await cliente.end()
  }
}
const historia = () =>
  consultar(
    'select migration_name, checksum, finished_at is not null as applied, applied_steps_count from _prisma_migrations',
  )

describe('migrar()', () => {
  it('from six processes at once applies each migration once', async () => {
    const nombres = (await readMigrations()).map(({ nombre }) => nombre)
    expect(nombres.length).toBeGreaterThan(0)
    const codigo = `
      const { migrate } = await import('./server/startup/migrations.ts')
      console.log(JSON.stringify(await migrate(${JSON.stringify(url)})))`
    // All six ask for the lock before the first one gets it.
    const portero = new pg.Client({ connectionString: url })
    await portero.connect()
    let seis: TestProcess[]
    try {
      await portero.query('select pg_advisory_lock(72707369)')
      seis = Array.from({ length: 6 }, () =>
        procesos.runCommand([process.execPath, '--input-type=module', '-e', codigo]),
      )
      await hasta(async () => {
        const { rowCount } = await portero.query(
          `select 1 from pg_stat_activity where application_name = 'guias migraciones' and datname = current_database()
             and query like '%pg_try_advisory_lock%'`,
        )
        return rowCount === 6
      })
    } finally {
      await portero.end()
    }
    for (const uno of seis) expect([(await uno.waitForEnd()).codigo, uno.errores]).toEqual([0, ''])
    const aplicadas = seis.map(({ output: salida }) => JSON.parse(salida) as string[])
    expect(aplicadas.filter((lista) => lista.length > 0)).toEqual([nombres])
    expect(await historia()).toEqual(
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
    expect(aplicadas.filter((lista) => lista.length > 0)).toHaveLength(1)
    expect((await historia()).length).toBe(aplicadas.flat().length)
  })

  it.runIf(HAS_LOCK_TIMEOUTS)('gives way to a session that uses the same tables, and begins anew', async () => {
    const otro = new pg.Client({ connectionString: url })
    await otro.connect()
    await otro.query('begin; create table comercio (ya_estaba int)')
    const esperan = () =>
      consultar(`select from pg_stat_activity where datname = current_database()
        and application_name = 'guias migraciones' and wait_event_type = 'Lock'`)
    const migrando = migrate(url)
    for (const cuantas of [1, 0, 1]) await hasta(async () => (await esperan()).length === cuantas)
    await otro.query('rollback')
    expect(await migrando).toEqual((await readMigrations()).map(({ nombre }) => nombre))
    await otro.end()
  })

  it.each([
    ['edited after it was applied', `checksum = repeat('0', 64)`, /se editó después de aplicarse/],
    ['left half-finished', 'finished_at = null', /quedó a medias/],
  ])('stops at a migration that was %s, as often as it is asked', async (_que, cambio, mensaje) => {
    const [nombre] = await migrate(url)
    await consultar(`update _prisma_migrations set ${cambio} where migration_name = '${nombre}'`)
    const antes = await historia()
    for (let vez = 0; vez < 2; vez++) {
      const error = await migrate(url).catch((causa: unknown) => causa)
      expect(error).toBeInstanceOf(MigrationError)
      expect((error as Error).message).toMatch(mensaje)
      expect((error as Error).message).toContain(nombre)
    }
    expect(await historia()).toEqual(antes)
  })

  it('one that fails changes nothing and stops the next start, too', async () => {
    await consultar('create table comercio (ya_estaba int)')
    const [nombre] = (await readMigrations()).map((migracion) => migracion.nombre)
    await expect(migrate(url)).rejects.toThrow(MigrationError)
    expect(await consultar(`select tablename from pg_tables where schemaname = 'public' order by 1`)).toEqual([
      { tablename: '_prisma_migrations' },
      { tablename: 'comercio' },
    ])
    await expect(migrate(url)).rejects.toThrow(new RegExp(`${nombre} quedó a medias`))
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
  ])('and the check sees %s that differs', async (_que, cambio, esperado) => {
    await migrate(url)
    await consultar(cambio)
    expect(await findDrift(url)).toMatch(esperado)
  })
})
