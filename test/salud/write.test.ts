import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { Connections } from '../../server/data/connections.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, EN_POSTGRES, waitUntil } from '../factories.ts'
import { admin } from '../postgres.ts'
import { useReceivers } from '../webhooks/receiver.ts'

const environment = useEnvironment()
const openReceiver = useReceivers()

const base = () => new URL(environment.databaseUrl).pathname.slice(1)
/** @param renovar whether sessions end, as at a failover: a setting of the database counts for new sessions */
const setReadOnly = (si: boolean, renovar: boolean) =>
  admin(async (client) => {
    await client.query(`alter database ${base()} ${si ? 'set default_transaction_read_only = on' : 'reset all'}`)
    if (renovar)
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [base()])
  })
const read = () => environment.request('GET', '/readyz')
const create = async (llave: string) => environment.request('POST', '/api/v1/guias', { llave, body: buildGuia() })

// First: /readyz gives a result again for a second.
describe('a full pool', () => {
  it('leaves /readyz at 200, however long statements take', EN_POSTGRES, async () => {
    const { llave } = await environment.createComercio()
    const client = await environment.db.pool.connect()
    const pendientes: Promise<number>[] = []
    try {
      await client.query('begin')
      await client.query('lock table guia in access exclusive mode')
      for (let i = 0; i < 60; i++)
        pendientes.push(environment.request('GET', '/api/v1/guias', { llave }).then(({ status }) => status))
      // All connections of requests wait for the lock, and other requests wait for a connection.
      await waitUntil(async () => {
        const { rows } = await admin((other) =>
          other.query(
            `select count(*)::int as n from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`,
            [base()],
          ),
        )
        return rows[0].n >= 8
      })
      expect(await read()).toMatchObject({ status: 200, body: { ok: true, escritura: true } })
    } finally {
      await client.query('rollback')
      client.release()
    }
    await Promise.all(pendientes)
  })
})

describe('more requests than can be answered', () => {
  it('leave /readyz at 200', async () => {
    const { llave } = await environment.createComercio()
    let isRunning = true
    const estados = new Set<number>()
    const loads = Array.from({ length: 100 }, async () => {
      while (isRunning) estados.add((await create(llave)).status)
    })
    const seen: number[] = []
    for (let i = 0; i < 12; i++) seen.push((await read()).status)
    isRunning = false
    await Promise.all(loads)
    expect(seen).toEqual(Array(12).fill(200))
    for (const status of estados) expect([201, 503]).toContain(status)
  })
})

describe('a database that takes no writes', EN_POSTGRES, () => {
  afterAll(() => setReadOnly(false, true))

  it('is told by 503 with Retry-After and by /readyz, and everything goes on once it takes them again', async () => {
    const { llave, api } = await environment.createComercio()
    const receptor = await openReceiver()
    await api.webhooks.crear({ url: receptor.url })
    await environment.waitForQuiet()
    const before = await create(llave)
    expect([before.status, (await read()).status]).toEqual([201, 200])

    await setReadOnly(true, true)
    const rechazada = await waitUntil(async () => {
      const response = await create(llave)
      // Sessions that were just ended fail their request first.
      return response.body.mensaje?.startsWith('El servicio no puede guardar') && response
    })
    expect([rechazada.status, rechazada.body.codigo, rechazada.headers.get('retry-after')]).toEqual([
      503,
      'no_disponible',
      '2',
    ])
    const outageResponse = await waitUntil(async () => {
      const one = await read()
      return one.status === 503 && one.body.base_de_datos && one
    })
    expect(outageResponse.body).toMatchObject({ ok: false, base_de_datos: true, escritura: false, migraciones: true })
    // Reading goes on.
    expect((await environment.request('GET', `/api/v1/guias/${before.body.guia}`, { llave })).status).toBe(200)

    await setReadOnly(false, true)
    await waitUntil(async () => (await read()).status === 200)
    const after = await waitUntil(async () => {
      const response = await create(llave)
      return response.status === 201 && response
    })
    await waitUntil(async () => receptor.receivedWebhooks.some(({ id }) => id === `evt_${after.body.guia}_1`))
    await environment.waitForQuiet()
  })

  it.skipIf(inject('pooler'))('costs each session that stayed read-only one request at most', async () => {
    const { llave } = await environment.createComercio()
    await setReadOnly(true, true)
    // As many sessions as the service has, all of them read-only.
    await waitUntil(async () => (await read()).body.escritura === false)
    await Promise.all(Array.from({ length: 40 }, () => environment.request('GET', '/api/v1/guias', { llave })))
    await setReadOnly(false, false)
    const estados = await Promise.all(Array.from({ length: 40 }, async () => (await create(llave)).status))
    for (let i = 0; i < 20; i++) estados.push((await create(llave)).status)
    expect(new Set(estados.slice(-5))).toEqual(new Set([201]))
    expect(estados.filter((status) => status !== 201 && status !== 503)).toEqual([])
    await waitUntil(async () => (await read()).status === 200)
  })

  it('is found by /readyz on a new connection, when requests were refused on theirs', async () => {
    const { llave } = await environment.createComercio()
    expect((await read()).status).toBe(200)
    // The probe's own session stays as it was.
    await setReadOnly(true, false)
    await admin((client) =>
      client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name not like 'guias salud%'`,
        [base()],
      ),
    )
    await waitUntil(async () => (await create(llave)).body.mensaje?.startsWith('El servicio no puede guardar'))
    await waitUntil(async () => (await read()).body.escritura === false)
    await setReadOnly(false, true)
    await waitUntil(async () => (await read()).status === 200)
  })
})

describe('a connection whose server lacks something', EN_POSTGRES, () => {
  let pool: Connections
  beforeAll(() => {
    pool = new Connections(environment.databaseUrl, 1, 'prueba')
  })
  afterAll(() => pool.end())

  const child = async () => (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid

  it.each([
    ['53100', 'a full disk', false],
    ['53200', 'memory', true],
    ['25006', 'a read-only transaction', true],
    ['58030', 'a failing disk', true],
    ['22012', 'a division by zero', false],
  ])('is closed after %s (%s): %s', async (codigo, _description, cerrada) => {
    const before = await child()
    const client = await pool.connect()
    // As Prisma does at the end of a transaction that failed.
    await client.query('begin')
    await client.query(`do $$ begin raise exception using errcode = '${codigo}'; end $$`).then(
      () => expect.unreachable(),
      ({ code }) => expect(code).toBe(codigo),
    )
    await client.query('rollback')
    client.release()
    expect((await child()) !== before).toBe(cerrada)
    expect(pool.totalCount).toBe(1)
  })
})
