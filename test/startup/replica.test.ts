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
  let seguidor: StandbyServer
  let url: string
  let deReplica: string
  let llave: string
  let operador: string

  beforeAll(async () => {
    const dataDir = processes.nextFolder()
    const primaria = await acquirePostgres({ dataDir, exclusive: false, flags: ['-c', 'fsync=off'] })
    close.push(() => primaria.release())
    const admin = new pg.Client({ connectionString: primaria.superuserUrl })
    await admin.connect()
    close.push(() => admin.end())
    seguidor = new StandbyServer(join(processes.base, 'seguidor'), await findFreePort(), new URL(primaria.superuserUrl))
    await seguidor.copyFiles(admin)
    close.push(() => seguidor.kill())
    await seguidor.start()

    const read = new URL(primaria.url)
    read.port = new URL(seguidor.url).port
    deReplica = read.href
    const env = { DATABASE_URL: primaria.url, MASTER_KEYS: MASTER_KEY, MESSAGING: 'buzon', DATA_DIR: dataDir }
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
    const ordenar = async (...args: string[]) => (await processes.admin([...args, '--json'], env)).output
    const { comercio } = JSON.parse(await ordenar('comercios', 'crear', '--nombre', 'Tienda'))
    llave = JSON.parse(await ordenar('llaves', 'crear', '--comercio', comercio, '--modo', 'test')).llave
    operador = JSON.parse(await ordenar('operadores', 'crear', '--nombre', 'Central')).llave
  })
  afterAll(async () => {
    for (const one of close.reverse()) await one()
    await rm(join(processes.base, 'seguidor'), { recursive: true, force: true })
  })

  const create = async () => {
    const { cuerpo } = await requestSeparately(`${url}/api/v1/guias`, { method: 'POST', llave, cuerpo: buildGuia() })
    return cuerpo.guia as string
  }
  const cancelar = (guia: string) =>
    requestSeparately(`${url}/api/v1/guias/${guia}/cancelar`, { method: 'POST', llave, cuerpo: {} })
  const rastrear = (guia: string) => requestSeparately(`${url}/r/${guia}`)
  /** As operators find it, whose search knows no way but the one. */
  const search = async (guia: string): Promise<string | undefined> => {
    const { status, cuerpo } = await requestSeparately(`${url}/operaciones/v1/guias?limite=100`, { llave: operador })
    expect(status).toBe(200)
    return cuerpo.datos.find((one: { guia: string }) => one.guia === guia)?.estado
  }
  /** When the service last asked it for something. */
  const leida_en = async () => {
    const [row] = await seguidor.request<{ en: Date | null }>(
      `select max(query_start) as en from pg_stat_activity where application_name ~ '^guias lectura' and query ~ 'guia'`,
    )
    return row!.en?.getTime() ?? 0
  }
  const seLee = () =>
    waitUntil(async () => {
      const before = Date.now()
      await search('')
      return (await leida_en()) >= before || undefined
    })

  /** Four look at a parcel one time after the other, each time from a network of its own, while something happens. */
  const mirarMientras = async (que: string, guia: string, suceder: () => Promise<void>) => {
    const estados: number[] = []
    let sigue = true
    const look = (n: number) =>
      fetch(`${url}/r/${guia}`, { headers: { 'X-Forwarded-For': `10.0.${n >> 8}.${n & 255}` } })
    const miran = Array.from({ length: 4 }, async () => {
      while (sigue) estados.push((await look(estados.length)).status)
    })
    try {
      await suceder()
    } finally {
      sigue = false
      await Promise.all(miran)
    }
    console.info(`| ${que} | ${estados.length} | ${estados.filter((status) => status !== 200).length} |`)
    expect(new Set(estados)).toEqual(new Set([200]))
  }

  it('is read, and what it has not is read where it is written', async () => {
    await seLee()
    const guia = await create()
    // Whoever has a code of just now sees his parcel.
    expect((await rastrear(guia)).status).toBe(200)
    await waitUntil(async () => (await search(guia)) === 'aceptado')
  })

  it('that lags is read for five seconds, and then no more until it has caught up', async () => {
    await seLee()
    await seguidor.request('select pg_wal_replay_pause()')
    const guia = await create()
    await cancelar(guia)
    await mirarMientras('a replica that lags and catches up', guia, async () => {
      await waitUntil(async () => (await search(guia)) === 'cancelado')
      const atras = await seguidor.request<{ si: boolean }>('select pg_is_wal_replay_paused() as si')
      expect(atras).toEqual([{ si: true }])
      await seguidor.request('select pg_wal_replay_resume()')
      await seLee()
    })
    expect(await search(guia)).toBe('cancelado')
  })

  it('that is gone is missed by nobody, and is read again when it is back', async () => {
    await seLee()
    const guia = await create()
    await mirarMientras('a replica killed and back', guia, async () => {
      await seguidor.kill()
      expect(await search(guia)).toBe('aceptado')
      await seguidor.start()
      await seLee()
    })
    expect(await search(guia)).toBe('aceptado')
  })

  // Last: it is none afterwards.
  it('takes no writes until it is promoted, as a probe of /readyz says', async () => {
    const sonda = new Probe(deReplica, [], createLog('silent'))
    try {
      expect(await sonda.look()).toEqual({ base_de_datos: true, escritura: false })
      await seguidor.request('select pg_promote()')
      await waitUntil(async () => (await sonda.look()).escritura)
    } finally {
      await sonda.close()
    }
  })
})
