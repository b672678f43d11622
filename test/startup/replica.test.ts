// A real streaming replica that is read, lags, stops and comes back.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acquirePostgres } from '../../server/data/embedded/embedded.ts'
import { createLog } from '../../server/platform/log.ts'
import { Probe } from '../../server/startup/probe.ts'
import { MASTER_KEY } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { StandbyServer } from '../follower.ts'
import { findFreePort } from '../ports.ts'
import { listo, requestSeparately, useProcesses } from '../processes.ts'

const processes = useProcesses()

describe('a replica', FULL_RUN_ONLY, () => {
  const close: (() => unknown)[] = []
  let standby: StandbyServer
  let url: string
  let ofReplica: string
  let llave: string
  let operador: string

  beforeAll(async () => {
    const dataDir = processes.nextFolder()
    const primary = await acquirePostgres({ dataDir, exclusive: false, flags: ['-c', 'fsync=off'] })
    close.push(() => primary.release())
    const admin = new pg.Client({ connectionString: primary.superuserUrl })
    await admin.connect()
    close.push(() => admin.end())
    standby = new StandbyServer(join(processes.base, 'seguidor'), await findFreePort(), new URL(primary.superuserUrl))
    await standby.copyFiles(admin)
    close.push(() => standby.kill())
    await standby.start()

    const read = new URL(primary.url)
    read.port = new URL(standby.url).port
    ofReplica = read.href
    const env = { DATABASE_URL: primary.url, MASTER_KEYS: MASTER_KEY, MESSAGING: 'buzon', DATA_DIR: dataDir }
    const service = processes.startService({
      ...env,
      DATABASE_URL_READ: read.href,
      REQUESTS_PER_NETWORK: '10000',
      TRUST_PROXY: '1',
    })
    url = await listo(service)
    close.push(async () => {
      service.signalAll('SIGTERM')
      await service.waitForEnd()
    })
    const arrange = async (...args: string[]) => (await processes.admin([...args, '--json'], env)).output
    const { comercio } = JSON.parse(await arrange('comercios', 'crear', '--nombre', 'Tienda'))
    llave = JSON.parse(await arrange('llaves', 'crear', '--comercio', comercio, '--modo', 'test')).llave
    operador = JSON.parse(await arrange('operadores', 'crear', '--nombre', 'Central')).llave
  })
  afterAll(async () => {
    for (const one of close.reverse()) await one()
    await rm(join(processes.base, 'seguidor'), { recursive: true, force: true })
  })

  const create = async () => {
    const { body } = await requestSeparately(`${url}/api/v1/guias`, { method: 'POST', llave, body: buildGuia() })
    return body.guia as string
  }
  const cancelar = (guia: string) =>
    requestSeparately(`${url}/api/v1/guias/${guia}/cancelar`, { method: 'POST', llave, body: {} })
  const trackGuia = (guia: string) => requestSeparately(`${url}/r/${guia}`)
  /** As operators find it, whose search knows no way but the one. */
  const search = async (guia: string): Promise<string | undefined> => {
    const { status, body } = await requestSeparately(`${url}/operaciones/v1/guias?limite=100`, { llave: operador })
    expect(status).toBe(200)
    return body.datos.find((one: { guia: string }) => one.guia === guia)?.estado
  }
  /** When the service last asked it for something. */
  const readLastReadAt = async () => {
    const [row] = await standby.request<{ en: Date | null }>(
      `select max(query_start) as en from pg_stat_activity where application_name ~ '^guias lectura' and query ~ 'guia'`,
    )
    return row!.en?.getTime() ?? 0
  }
  const waitForRead = () =>
    waitUntil(async () => {
      const before = Date.now()
      await search('')
      return (await readLastReadAt()) >= before || undefined
    })

  /** Four look at a parcel one time after the other, each time from a network of its own, while something happens. */
  const watchDuring = async (kind: string, guia: string, happen: () => Promise<void>) => {
    const estados: number[] = []
    let isRunning = true
    const look = (n: number) =>
      fetch(`${url}/r/${guia}`, { headers: { 'X-Forwarded-For': `10.0.${n >> 8}.${n & 255}` } })
    const watchers = Array.from({ length: 4 }, async () => {
      while (isRunning) estados.push((await look(estados.length)).status)
    })
    try {
      await happen()
    } finally {
      isRunning = false
      await Promise.all(watchers)
    }
    console.info(`| ${kind} | ${estados.length} | ${estados.filter((status) => status !== 200).length} |`)
    expect(new Set(estados)).toEqual(new Set([200]))
  }

  it('is read, and what it has not is read where it is written', async () => {
    await waitForRead()
    const guia = await create()
    // Whoever has a code of just now sees his parcel.
    expect((await trackGuia(guia)).status).toBe(200)
    await waitUntil(async () => (await search(guia)) === 'aceptado')
  })

  it('that lags is read for five seconds, and then no more until it has caught up', async () => {
    await waitForRead()
    await standby.request('select pg_wal_replay_pause()')
    const guia = await create()
    await cancelar(guia)
    await watchDuring('a replica that lags and catches up', guia, async () => {
      await waitUntil(async () => (await search(guia)) === 'cancelado')
      const backwards = await standby.request<{ si: boolean }>('select pg_is_wal_replay_paused() as si')
      expect(backwards).toEqual([{ si: true }])
      await standby.request('select pg_wal_replay_resume()')
      await waitForRead()
    })
    expect(await search(guia)).toBe('cancelado')
  })

  it('that is gone is missed by nobody, and is read again when it is back', async () => {
    await waitForRead()
    const guia = await create()
    await watchDuring('a replica killed and back', guia, async () => {
      await standby.kill()
      expect(await search(guia)).toBe('aceptado')
      await standby.start()
      await waitForRead()
    })
    expect(await search(guia)).toBe('aceptado')
  })

  // Last: it is none afterwards.
  it('takes no writes until it is promoted, as a probe of /readyz says', async () => {
    const probe = new Probe(ofReplica, [], createLog('silent'))
    try {
      expect(await probe.look()).toEqual({ base_de_datos: true, escritura: false })
      await standby.request('select pg_promote()')
      await waitUntil(async () => (await probe.look()).escritura)
    } finally {
      await probe.close()
    }
  })
})
