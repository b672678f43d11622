import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { newLlave } from '../../server/domain/identities/llave.ts'
import { uploadArchivo } from '../archivos/images.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY, hasta } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { type Falla, PROMISE_FAULTS } from './promises.ts'
import { scrapeMetrics, valorDe } from './scrape.ts'

const nuevoReceptor = useReceivers()
let puerto: number
const entorno = useEnvironment({ limitsClock: () => 0 }, async () => {
  puerto = await findFreePort()
  return { METRICS_PORT: `${puerto}`, REQUESTS_PER_NETWORK: '20' }
})
const leer = async (metrica: string) => valorDe(await scrapeMetrics(puerto), metrica)
const crecimiento = async (serie: string, hacer: () => Promise<unknown>) => {
  const antes = (await leer(serie)) ?? 0
  await hacer()
  return ((await leer(serie)) ?? 0) - antes
}

/** Series of the service itself, whose values do not matter. Endpoints are counted by state, so a state is a series. */
const series = async () =>
  [...(await scrapeMetrics(puerto)).keys()].filter((serie) => /^guias_(?!webhooks\{)/.test(serie)).sort()

describe('GET /metrics', () => {
  it('has each metric that the manual names', async () => {
    const [, manual = ''] = /\n## Metrics\n(.*?)\n## /s.exec(readFileSync('docs/operacion/metrics.md', 'utf8')) ?? []
    const nombradas = new Set([...manual.matchAll(/^\| `(guias_\w+)[`{]/gm)].map(([, nombre]) => nombre!))
    const texto = await (await fetch(`http://127.0.0.1:${puerto}/metrics`)).text()
    const propias = new Set([...texto.matchAll(/^# TYPE (guias_\w+) /gm)].map(([, nombre]) => nombre!))
    expect(nombradas).toEqual(propias)
    expect(texto).toContain('nodejs_eventloop_lag_p99_seconds')
    expect(texto).toContain('process_resident_memory_bytes')
  })

  it('counts the requests of an operation by status, and their time', async () => {
    const { llave, api } = await entorno.nuevoComercio()
    const creada = 'guias_solicitudes_total{operacion="crearGuia",status="201"}'
    expect(await crecimiento(creada, () => api.guias.crear(buildGuia()))).toBe(1)
    const negada = 'guias_solicitudes_total{operacion="crearGuia",status="422"}'
    expect(await crecimiento(negada, () => entorno.request('POST', '/api/v1/guias', { llave, cuerpo: {} }))).toBe(1)
    const tiempos = 'guias_solicitud_segundos_count{operacion="crearGuia"}'
    expect(await crecimiento(tiempos, () => api.guias.crear(buildGuia()))).toBe(1)
    const segundos = 'guias_solicitud_segundos_sum{operacion="crearGuia"}'
    const desde = performance.now()
    const suyos = await crecimiento(segundos, () => api.guias.crear(buildGuia()))
    expect(suyos).toBeGreaterThan(0)
    // The request is a part of what this test waited for.
    expect(suyos).toBeLessThan((performance.now() - desde) / 1_000)
    const paginas = 'guias_solicitudes_total{operacion="pagina",status="404"}'
    expect(await crecimiento(paginas, () => fetch(`${entorno.url}/no-existe`))).toBe(1)
  })

  it('times webhooks and the file storage in seconds', async () => {
    const { api } = await entorno.nuevoComercio()
    const { url, receivedWebhooks } = await nuevoReceptor()
    await api.webhooks.crear({ url, tipos: ['guia.aceptado'] })
    const { guia } = await api.guias.crear(buildGuia())
    await hasta(async () => receivedWebhooks.length === 1)
    await entorno.waitForQuiet()
    for (const [serie, hacer] of [
      ['guias_webhook_intento_segundos_sum', () => api.guias.crear(buildGuia()).then(() => entorno.waitForQuiet())],
      ['guias_almacen_segundos_sum{operacion="guardar",resultado="ok"}', () => uploadArchivo(entorno, guia)],
    ] as const) {
      const desde = performance.now()
      const suyos = await crecimiento(serie, hacer)
      expect([serie, suyos > 0, suyos < (performance.now() - desde) / 1_000]).toEqual([serie, true, true])
    }
  })

  it('times the calls of the file storage, also the question whether a file exists', async () => {
    // A start asks for the next erasure.
    expect(await leer('guias_almacen_segundos_count{operacion="existe",resultado="ok"}')).toBeGreaterThan(0)
  })

  it('counts what the network gate refuses', async () => {
    const negadas = 'guias_solicitudes_rechazadas_total{clase="paginas"}'
    // The clock of the limits stands still, so no token comes back.
    for (let status = 0; status !== 429; ) status = (await fetch(`${entorno.url}/rastreo`)).status
    expect(await crecimiento(negadas, () => fetch(`${entorno.url}/rastreo`))).toBe(1)
  })

  it('tells the connections of each pool, and the health of the process', async () => {
    const muestras = await scrapeMetrics(puerto)
    for (const pool of ['servicio', 'creaciones', 'cola'])
      for (const estado of ['en_uso', 'libres', 'esperan', 'maximo'])
        expect(muestras.get(`guias_conexiones{pool="${pool}",estado="${estado}"}`)).toBeGreaterThanOrEqual(0)
    // At rest every connection is idle.
    const deServicio = (estado: string) => leer(`guias_conexiones{pool="servicio",estado="${estado}"}`)
    await hasta(async () => (await deServicio('libres'))! > 0 && (await deServicio('en_uso')) === 0)
    for (const parte of ['ok', 'base_de_datos', 'escritura', 'cola', 'migraciones'])
      expect(muestras.get(`guias_salud{parte="${parte}"}`)).toBe(1)
  })
})

describe('a promise', () => {
  const probar = async (nombre: string, causar: Falla) => {
    await hasta(async () => (await leer(nombre)) === 0)
    const reparar = await causar(entorno)
    try {
      await hasta(async () => (await leer(nombre))! > 0)
    } finally {
      await reparar()
    }
    await hasta(async () => (await leer(nombre)) === 0)
  }
  const { guias_bitacora_sin_eslabon: cadena, ...otras } = PROMISE_FAULTS
  it.each(Object.entries(otras))('%s is 0 at rest, more while it is broken, and 0 again', probar)
  // The next link comes within half a minute.
  it('guias_bitacora_sin_eslabon is so, too', FULL_RUN_ONLY, () => probar('guias_bitacora_sin_eslabon', cadena!))
})

describe('the number of series', () => {
  it('is the same with 10,000 merchants', FULL_RUN_ONLY, async () => {
    const CUANTOS = 10_000
    const { llave } = await entorno.nuevoComercio()
    expect((await entorno.request('GET', '/api/v1/cuenta', { llave })).status).toBe(200)
    const antes = await series()
    const nuevos = Array.from({ length: CUANTOS }, (_, n) => ({ uuid: randomUUID(), n, ...newLlave('test') }))
    const { pool } = entorno.db
    await pool.query(
      `insert into comercio (id, comercio, nombre, ritmo_solicitudes, creado_en)
       select id, 'com_' || left(md5(id::text), 12), 'Comercio ' || n, 1000, now() from unnest($1::uuid[], $2::int[]) x (id, n)`,
      [nuevos.map(({ uuid }) => uuid), nuevos.map(({ n }) => n)],
    )
    await pool.query(
      `insert into llave (id, tipo, comercio_id, hash, alcances, redes, creado_en)
       select id, 'test', comercio_id, hash, (select alcances from llave where tipo = 'test' limit 1), '{}', now()
       from unnest($1::text[], $2::uuid[], $3::bytea[]) x (id, comercio_id, hash)`,
      [nuevos.map(({ id }) => id), nuevos.map(({ uuid }) => uuid), nuevos.map(({ hash }) => hash)],
    )
    await pool.query(
      `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, estado_en, creado_en, actualizado_en)
       select id, 'test', 'wh_' || left(md5(id::text), 12), 'http://127.0.0.1:9/' || id, '{*}', 'pausado', now(), now(), now()
       from unnest($1::uuid[]) id`,
      [nuevos.map(({ uuid }) => uuid)],
    )
    const porHacer = nuevos.values()
    const estados = new Set<number>()
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (const { llave } of porHacer)
          estados.add((await entorno.request('GET', '/api/v1/cuenta', { llave })).status)
      }),
    )
    expect(estados).toEqual(new Set([200]))
    expect(await series()).toEqual(antes)
    expect((await scrapeMetrics(puerto)).size).toBeLessThan(2_000)
  })
})
