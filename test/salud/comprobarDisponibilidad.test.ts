import { describe, expect, it } from 'vitest'
import { createLog } from '../../server/platform/log.ts'
import { Lifetime } from '../../server/startup/lifetime.ts'
import { useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { admin } from '../postgres.ts'

// Workers say in the log what they make of a database that is gone.
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))

it('says that the queue does not work while the workers have not reached it lately', async () => {
  const liveness = new Lifetime(createLog('silent'), true)
  liveness.phase = 'lista'
  liveness.probe = { look: async () => ({ base_de_datos: true, escritura: true }) } as never
  const healthyChecks = []
  for (const isHealthy of [true, false]) {
    liveness.workers = { isHealthy: () => isHealthy } as never
    const { ok, cola } = await liveness.health()
    healthyChecks.push([ok, cola])
  }
  expect(healthyChecks).toEqual([
    [true, true],
    [false, false],
  ])
})

describe('GET /readyz', () => {
  const read = () => environment.request('GET', '/readyz')

  it('says what the process stands on, and that it isn’t ready while the database takes nobody in', async () => {
    const list = { ok: true, base_de_datos: true, escritura: true, cola: true, migraciones: true }
    const { status, body } = await read()
    expect([status, body]).toEqual([200, list])
    const base = new URL(environment.databaseUrl).pathname.slice(1)
    await admin(async (client) => {
      await client.query(`alter database ${base} allow_connections false`)
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [base])
    })
    const outageResponse = await waitUntil(async () => {
      const one = await read()
      return one.status === 503 && one
    })
    expect(outageResponse.body).toEqual({
      ok: false,
      base_de_datos: false,
      escritura: false,
      cola: false,
      migraciones: true,
    })
    expect(outageResponse.headers.get('retry-after')).toBe('2')
    await admin((client) => client.query(`alter database ${base} allow_connections true`))
    expect((await waitUntil(async () => (await read()).status === 200 && read())).body).toEqual(list)
  })
})
