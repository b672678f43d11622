import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { newLlave } from '../../server/domain/identities/llave.ts'
import { uploadArchivo } from '../archivos/images.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { type Falla, PROMISE_FAULTS } from './promises.ts'
import { scrapeMetrics, valueIn } from './scrape.ts'

const openReceiver = useReceivers()
let port: number
const environment = useEnvironment({ limitsClock: () => 0 }, async () => {
  port = await findFreePort()
  return { METRICS_PORT: `${port}`, REQUESTS_PER_NETWORK: '20' }
})
const read = async (metric: string) => valueIn(await scrapeMetrics(port), metric)
const measureIncrease = async (seriesId: string, act: () => Promise<unknown>) => {
  const before = (await read(seriesId)) ?? 0
  await act()
  return ((await read(seriesId)) ?? 0) - before
}

/** Series of the service itself, whose values do not matter. Endpoints are counted by state, so a state is a series. */
const series = async () =>
  [...(await scrapeMetrics(port)).keys()].filter((seriesId) => /^guias_(?!webhooks\{)/.test(seriesId)).sort()

describe('GET /metrics', () => {
  it('has each metric that the manual names', async () => {
    const [, manual = ''] = /\n## Metrics\n(.*?)\n## /s.exec(readFileSync('docs/operacion/metrics.md', 'utf8')) ?? []
    const mentionedNames = new Set([...manual.matchAll(/^\| `(guias_\w+)[`{]/gm)].map(([, name]) => name!))
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const metricNames = new Set([...text.matchAll(/^# TYPE (guias_\w+) /gm)].map(([, name]) => name!))
    expect(mentionedNames).toEqual(metricNames)
    expect(text).toContain('nodejs_eventloop_lag_p99_seconds')
    expect(text).toContain('process_resident_memory_bytes')
  })

  it('counts the requests of an operation by status, and their time', async () => {
    const { llave, api } = await environment.createComercio()
    const created = 'guias_solicitudes_total{operacion="crearGuia",status="201"}'
    expect(await measureIncrease(created, () => api.guias.crear(buildGuia()))).toBe(1)
    const refusal = 'guias_solicitudes_total{operacion="crearGuia",status="422"}'
    expect(
      await measureIncrease(refusal, () => environment.request('POST', '/api/v1/guias', { llave, body: {} })),
    ).toBe(1)
    const tiempos = 'guias_solicitud_segundos_count{operacion="crearGuia"}'
    expect(await measureIncrease(tiempos, () => api.guias.crear(buildGuia()))).toBe(1)
    const seconds = 'guias_solicitud_segundos_sum{operacion="crearGuia"}'
    const from = performance.now()
    const increase = await measureIncrease(seconds, () => api.guias.crear(buildGuia()))
    expect(increase).toBeGreaterThan(0)
    // The request is a part of what this test waited for.
    expect(increase).toBeLessThan((performance.now() - from) / 1_000)
    const pages = 'guias_solicitudes_total{operacion="pagina",status="404"}'
    expect(await measureIncrease(pages, () => fetch(`${environment.url}/no-existe`))).toBe(1)
  })

  it('times webhooks and the file storage in seconds', async () => {
    const { api } = await environment.createComercio()
    const { url, receivedWebhooks } = await openReceiver()
    await api.webhooks.crear({ url, tipos: ['guia.aceptado'] })
    const { guia } = await api.guias.crear(buildGuia())
    await waitUntil(async () => receivedWebhooks.length === 1)
    await environment.waitForQuiet()
    for (const [seriesId, act] of [
      ['guias_webhook_intento_segundos_sum', () => api.guias.crear(buildGuia()).then(() => environment.waitForQuiet())],
      ['guias_almacen_segundos_sum{operacion="guardar",resultado="ok"}', () => uploadArchivo(environment, guia)],
    ] as const) {
      const from = performance.now()
      const increase = await measureIncrease(seriesId, act)
      expect([seriesId, increase > 0, increase < (performance.now() - from) / 1_000]).toEqual([seriesId, true, true])
    }
  })

  it('times the calls of the file storage, also the question whether a file exists', async () => {
    // A start asks for the next erasure.
    expect(await read('guias_almacen_segundos_count{operacion="existe",resultado="ok"}')).toBeGreaterThan(0)
  })

  it('counts what the network gate refuses', async () => {
    const refusals = 'guias_solicitudes_rechazadas_total{clase="paginas"}'
    // The clock of the limits stands still, so no token comes back.
    for (let status = 0; status !== 429; ) status = (await fetch(`${environment.url}/rastreo`)).status
    expect(await measureIncrease(refusals, () => fetch(`${environment.url}/rastreo`))).toBe(1)
  })

  it('tells the connections of each pool, and the health of the process', async () => {
    const samples = await scrapeMetrics(port)
    for (const pool of ['servicio', 'creaciones', 'cola'])
      for (const estado of ['en_uso', 'libres', 'esperan', 'maximo'])
        expect(samples.get(`guias_conexiones{pool="${pool}",estado="${estado}"}`)).toBeGreaterThanOrEqual(0)
    // At rest every connection is idle.
    const serviceConnections = (estado: string) => read(`guias_conexiones{pool="servicio",estado="${estado}"}`)
    await waitUntil(async () => (await serviceConnections('libres'))! > 0 && (await serviceConnections('en_uso')) === 0)
    for (const part of ['ok', 'base_de_datos', 'escritura', 'cola', 'migraciones'])
      expect(samples.get(`guias_salud{parte="${part}"}`)).toBe(1)
  })
})

describe('a promise', () => {
  const probar = async (name: string, provoke: Falla) => {
    await waitUntil(async () => (await read(name)) === 0)
    const repair = await provoke(environment)
    try {
      await waitUntil(async () => (await read(name))! > 0)
    } finally {
      await repair()
    }
    await waitUntil(async () => (await read(name)) === 0)
  }
  const { guias_bitacora_sin_eslabon: chain, ...others } = PROMISE_FAULTS
  it.each(Object.entries(others))('%s is 0 at rest, more while it is broken, and 0 again', probar)
  // The next link comes within half a minute.
  it('guias_bitacora_sin_eslabon is so, too', FULL_RUN_ONLY, () => probar('guias_bitacora_sin_eslabon', chain!))
})

describe('the number of series', () => {
  it('is the same with 10,000 merchants', FULL_RUN_ONLY, async () => {
    const COUNT = 10_000
    const { llave } = await environment.createComercio()
    expect((await environment.request('GET', '/api/v1/cuenta', { llave })).status).toBe(200)
    const before = await series()
    const newLlaves = Array.from({ length: COUNT }, (_, n) => ({ uuid: randomUUID(), n, ...newLlave('test') }))
    const { pool } = environment.db
    await pool.query(
      `insert into comercio (id, comercio, nombre, ritmo_solicitudes, creado_en)
       select id, 'com_' || left(md5(id::text), 12), 'Comercio ' || n, 1000, now() from unnest($1::uuid[], $2::int[]) x (id, n)`,
      [newLlaves.map(({ uuid }) => uuid), newLlaves.map(({ n }) => n)],
    )
    await pool.query(
      `insert into llave (id, tipo, comercio_id, hash, alcances, redes, creado_en)
       select id, 'test', comercio_id, hash, (select alcances from llave where tipo = 'test' limit 1), '{}', now()
       from unnest($1::text[], $2::uuid[], $3::bytea[]) x (id, comercio_id, hash)`,
      [newLlaves.map(({ id }) => id), newLlaves.map(({ uuid }) => uuid), newLlaves.map(({ hash }) => hash)],
    )
    await pool.query(
      `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, estado_en, creado_en, actualizado_en)
       select id, 'test', 'wh_' || left(md5(id::text), 12), 'http://127.0.0.1:9/' || id, '{*}', 'pausado', now(), now(), now()
       from unnest($1::uuid[]) id`,
      [newLlaves.map(({ uuid }) => uuid)],
    )
    const remainingComercios = newLlaves.values()
    const estados = new Set<number>()
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (const { llave } of remainingComercios)
          estados.add((await environment.request('GET', '/api/v1/cuenta', { llave })).status)
      }),
    )
    expect(estados).toEqual(new Set([200]))
    expect(await series()).toEqual(before)
    expect((await scrapeMetrics(port)).size).toBeLessThan(2_000)
  })
})
