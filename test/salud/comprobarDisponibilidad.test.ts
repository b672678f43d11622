import { describe, expect, it } from 'vitest'
import { createLog } from '../../server/platform/log.ts'
import { Lifetime } from '../../server/startup/lifetime.ts'
import { useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { admin } from '../postgres.ts'

// Workers say in the log what they make of a database that is gone.
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))

it('says that the queue does not work while the workers have not reached it lately', async () => {
  const vida = new Lifetime(createLog('silent'), true)
  vida.phase = 'lista'
  vida.probe = { look: async () => ({ base_de_datos: true, escritura: true }) } as never
  const sanas = []
  for (const sano of [true, false]) {
    vida.workers = { isHealthy: () => sano } as never
    const { ok, cola } = await vida.health()
    sanas.push([ok, cola])
  }
  expect(sanas).toEqual([
    [true, true],
    [false, false],
  ])
})

describe('GET /readyz', () => {
  const read = () => environment.request('GET', '/readyz')

  it('says what the process stands on, and that it isn’t ready while the database takes nobody in', async () => {
    const list = { ok: true, base_de_datos: true, escritura: true, cola: true, migraciones: true }
    const { status, cuerpo } = await read()
    expect([status, cuerpo]).toEqual([200, list])
    const base = new URL(environment.databaseUrl).pathname.slice(1)
    await admin(async (client) => {
      await client.query(`alter database ${base} allow_connections false`)
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [base])
    })
    const caida = await waitUntil(async () => {
      const one = await read()
      return one.status === 503 && one
    })
    expect(caida.cuerpo).toEqual({ ok: false, base_de_datos: false, escritura: false, cola: false, migraciones: true })
    expect(caida.cabeceras.get('retry-after')).toBe('2')
    await admin((client) => client.query(`alter database ${base} allow_connections true`))
    expect((await waitUntil(async () => (await read()).status === 200 && read())).cuerpo).toEqual(list)
  })
})
