import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { Limits } from '../../server/api/limits/limits.ts'
import { collectAudit } from '../../server/data/audit.ts'
import { newLlave } from '../../server/domain/identities/llave.ts'
import { createAuthenticators } from '../../server/domain/llaves/authenticators.ts'
import type { RitmosDeComercio } from '../../server/generated/contract/types/index.ts'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { startService } from '../../server/startup/service.ts'
import { type Comercio, MASTER_KEY, useEnvironment } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { noUsages } from '../llaves/manage.ts'
import { findFreePort } from '../ports.ts'
import { waitForLock } from '../quiescence.ts'
import { createMobile } from '../repartidores/phone.ts'

// The limits' clock moves only when it is told to: nothing comes back meanwhile, however slow the machine.
let ms = 0
const metricsPort = await findFreePort()
const environment = useEnvironment({ limitsClock: () => ms }, () => ({
  METRICS_PORT: `${metricsPort}`,
  REQUESTS_PER_NETWORK: '5',
  REQUESTS_PER_OPERATOR_KEY: '10',
}))

const readCuenta = (llave: string) => environment.request('GET', '/api/v1/cuenta', { llave })
const create = ({ llave }: Comercio) => environment.request('POST', '/api/v1/guias', { llave, body: buildGuia() })

/** Asks until it is told to wait. */
async function exhaust(request: () => ReturnType<typeof environment.request>, maximo = 500) {
  for (let i = 0; i < maximo; i++) {
    const response = await request()
    if (response.status === 429) return { respuesta: response, antes: i }
  }
  throw new Error(`there was no 429 in ${maximo} requests`)
}

/** The operation `obtenerCuenta`, and who calls it with the key of a new merchant. */
async function cuentaDeComercio(ritmos: RitmosDeComercio) {
  const operacion = readOperations(readDocument()).find(({ id }) => id === 'obtenerCuenta')!
  const { llave } = await environment.createComercio('test', ritmos)
  const identity = await createAuthenticators({ ...environment, usages: noUsages }).llaveDeComercio(llave)
  return [operacion, identity!] as const
}

const number = (text: string | null, key: string) => Number(new RegExp(`${key}=(\\d+)`).exec(text ?? '')?.[1])

describe('the limits', () => {
  it('are told with every answer, and keep a key within its rhythm without touching anybody else’s', async () => {
    const one = await environment.createComercio('test', { solicitudes: 5, guias: 100 })
    const other = await environment.createComercio('test', { solicitudes: 5, guias: 100 })
    const first = await readCuenta(one.llave)
    expect(first.body.ritmos).toEqual({ solicitudes: 5, guias: 100 })
    expect(first.headers.get('ratelimit-policy')).toBe('"solicitudes";q=20;w=4')
    expect(first.headers.get('ratelimit')).toMatch(/^"solicitudes";r=19;t=1$/)
    const { respuesta: response, antes: before } = await exhaust(() => readCuenta(one.llave))
    expect(before).toBe(19)
    expect(response.body).toMatchObject({
      codigo: 'demasiadas_solicitudes',
      mensaje: 'Se agotó el ritmo de solicitudes de su llave (5 por segundo, 20 seguidas). Repita en 1 segundo.',
    })
    expect(response.headers.get('retry-after')).toBe('1')
    expect(number(response.headers.get('ratelimit'), 'r')).toBe(0)
    expect((await readCuenta(other.llave)).status).toBe(200)
    ms += 1_000
    expect((await exhaust(() => readCuenta(one.llave))).antes).toBe(5)
  })

  it('hold for all keys of a merchant together, of one mode', async () => {
    const comercio = await environment.createComercio('test', { solicitudes: 1, guias: 100 })
    const llaves = await Promise.all([1, 2, 3, 4].map(() => environment.createLlave(comercio)))
    const before = []
    for (const llave of llaves) before.push((await exhaust(() => readCuenta(llave))).antes)
    expect(before).toEqual([4, 4, 0, 0])
    expect((await readCuenta(llaves.at(-1)!)).body.mensaje).toContain('de su cuenta')
    expect((await readCuenta(await environment.createLlave(comercio, { modo: 'live' }))).status).toBe(200)
  })

  it('take one guide for a batch that is refused for its scope, before it is read', async () => {
    const comercio = await environment.createComercio('test', { solicitudes: 100, guias: 100 })
    const llave = await environment.createLlave(comercio, { alcances: ['guias:leer'] })
    const body = { guias: Array.from({ length: 15 }, () => buildGuia()) }
    const remaining = []
    for (let i = 0; i < 3; i++) {
      const { status, headers } = await environment.request('POST', '/api/v1/guias/bulk', { llave, body })
      remaining.push([status, number(headers.get('ratelimit')!.split(', ')[1]!, 'r')])
    }
    expect(remaining).toEqual([
      [403, 1999],
      [403, 1998],
      [403, 1997],
    ])
  })

  it('make a batch cost its guides, and nothing is created beyond them', async () => {
    const comercio = await environment.createComercio('test', { solicitudes: 100, guias: 1 })
    const lote = (count: number) =>
      environment.request('POST', '/api/v1/guias/bulk', {
        llave: comercio.llave,
        body: { guias: Array.from({ length: count }, () => buildGuia()) },
      })
    const first = await lote(15)
    expect(first.body).toMatchObject({ creadas: 15 })
    expect(first.headers.get('ratelimit-policy')).toBe('"solicitudes";q=400;w=4, "guias";q=20;w=20')
    expect(first.headers.get('ratelimit')).toBe('"solicitudes";r=399;t=1, "guias";r=5;t=15')
    // Whoever has something left may go over it, and then owes it.
    expect((await lote(30)).body).toMatchObject({ creadas: 30 })
    const denial = await lote(1)
    expect(denial.status).toBe(429)
    // A refused request gives back what it took from the other rates: 400 less two accepted batches.
    expect(denial.headers.get('ratelimit')).toMatch(/^"solicitudes";r=398;/)
    expect(denial.body.mensaje).toMatch(
      /^Se agotó el ritmo de guías de su llave \(1 por segundo, 20 seguidas\)\. Repita en 26 segundos/,
    )
    expect((await create(comercio)).status).toBe(429)
    expect((await readCuenta(comercio.llave)).status).toBe(200)
    expect(await environment.db.prisma.guia.count({ where: { comercio_id: comercio.id } })).toBe(45)
  })

  it('are changed by operators, and hold at once', async () => {
    const comercio = await environment.createComercio('test', { solicitudes: 1, guias: 1 })
    await exhaust(() => readCuenta(comercio.llave))
    const path = `/comercios/${comercio.comercio}`
    expect(
      (await environment.asOperador('PATCH', path, { ritmos: { solicitudes: 0, guias: 1 } })).body.errores,
    ).toEqual([expect.objectContaining({ campo: '/ritmos/solicitudes', mensaje: 'debe ser un entero de 1 a 100000' })])
    const ritmos = { solicitudes: 500, guias: 900 }
    expect((await environment.asOperador('PATCH', path, { ritmos })).body).toMatchObject({ ritmos })
    await waitUntil(
      async () => (await readCuenta(comercio.llave)).headers.get('ratelimit-policy')?.includes('q=2000') === true,
    )
  })

  it('hold for an operator’s key, a courier’s session and a network without either', async () => {
    const asOperador = () => environment.asOperador('GET', '/comercios?limite=1')
    const remainingBefore = (await exhaust(asOperador)).antes
    expect(remainingBefore).toBeLessThanOrEqual(40)
    const liveness = () => environment.request('GET', '/healthz')
    expect((await exhaust(liveness)).respuesta.body.mensaje).toContain('de su red (5 por segundo, 50 seguidas)')
    ms += 60_000
    const { cookie } = await createMobile(environment)
    const sesion = () => environment.request('GET', '/repartidor/v1/guias', { headers: { cookie } })
    const { respuesta: response, antes: before } = await exhaust(sesion, 2_000)
    expect(before).toBe(300)
    expect(response.body.mensaje).toContain('de su sesión')
  })

  it('hold for codes that name no guide, which a courier asks for, and are told to the operator', async () => {
    ms += 600_000
    const phone = await createMobile(environment)
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const other = await createMobile(environment)
    const { antes: before, respuesta: response } = await exhaust(() => phone.request('GET', '/guias/7K3M9QX2A1B4'))
    expect([before, response.body.mensaje]).toEqual([
      60,
      'Buscó demasiadas guías que no existen. Repita en 2 segundos.',
    ])
    // Nor does he learn which ones exist.
    expect((await phone.request('GET', `/guias/${guia}`)).status).toBe(429)
    expect((await other.request('GET', `/guias/${guia}`)).status).toBe(200)
    // Whoever signs in anew goes on where he was.
    const againMobile = await createMobile(environment, phone)
    expect((await againMobile.request('GET', `/guias/${guia}`)).status).toBe(429)
    ms += 2_000
    expect((await phone.request('GET', `/guias/${guia}`)).status).toBe(200)
    // A list costs what it didn't find.
    const list = Array.from({ length: 30 }, (_, i) => `guia=${String(i).padStart(12, '0')}`).join('&')
    expect((await phone.request('GET', `/guias?${list}`)).status).toBe(200)
    expect((await phone.request('GET', `/guias/${guia}`)).status).toBe(429)
    // Lists that are asked for at once are looked up one after another, and each is charged before it is answered.
    ms += 600_000
    const concurrent = await Promise.all(
      Array.from({ length: 8 }, () => {
        const hundred = Array.from({ length: 100 }, () => `guia=${newGuideCode()}`).join('&')
        return phone.request('GET', `/guias?${hundred}`)
      }),
    )
    expect(concurrent.filter(({ status }) => status === 200)).toHaveLength(1)
    ms += 600_000
    const sequentialResponses = await Promise.all(
      Array.from({ length: 90 }, () => phone.request('GET', `/guias/${newGuideCode()}`)),
    )
    expect(sequentialResponses.filter(({ status }) => status === 404).length).toBeLessThanOrEqual(60)
    const avisos = environment.log.filter((line) => line.includes('unknown guides'))
    expect(avisos.length).toBeGreaterThan(0)
    for (const aviso of avisos) expect(JSON.parse(aviso)).toMatchObject({ level: 40, repartidor: phone.repartidor })
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    expect(metrics).toContain(`\nguias_repartidores_desconocidas_total ${avisos.length}\n`)
  })

  it('hold for the labels that are drawn for a network, from any merchant', FULL_RUN_ONLY, async () => {
    ms += 60_000
    const open = async () => {
      const { api } = await environment.createComercio()
      const { resultados } = await api.guias.crearLote({ guias: Array.from({ length: 100 }, buildGuia) })
      const { url } = await api.guias.etiquetas(resultados.map((one) => (one.ok ? one.guia : '')))
      return (method = 'GET') => fetch(url, { method })
    }
    const [one, other, third] = [await open(), await open(), await open()]
    expect([(await one()).status, (await other()).status]).toEqual([200, 200])
    const refusal = await third()
    expect([refusal.status, ((await refusal.json()) as { mensaje: string }).mensaje]).toEqual([
      429,
      'Se agotó el ritmo de etiquetas de su red (10 por segundo, 200 seguidas). Repita en 5 segundos.',
    ])
    // What was drawn costs a fifth, and so does asking about it: a link that is looped over takes nothing from others.
    ms += 5_000
    expect((await one()).status).toBe(200)
    for (const method of ['HEAD', 'GET']) expect((await one(method)).status).toBe(429)
    ms += 12_000
    expect((await third()).status).toBe(200)
  })

  it('hold for the rows that are read for a link, also when nothing is drawn', async () => {
    ms += 60_000
    const { api } = await environment.createComercio()
    const { resultados } = await api.guias.crearLote({ guias: Array.from({ length: 50 }, buildGuia) })
    const { url } = await api.guias.etiquetas(resultados.map((one) => (one.ok ? one.guia : '')))
    const etag = (await fetch(url)).headers.get('etag')!
    const repeat = () => fetch(url, { headers: { 'If-None-Match': etag } })
    let last = await repeat()
    for (let i = 0; last.status === 304 && i < 100; i++) last = await repeat()
    expect(((await last.json()) as { mensaje: string }).mensaje).toMatch(/^Se agotó el ritmo de etiquetas/)
    ms += 60_000
  })

  it('let nobody be locked out by strangers who try keys from the same network', async () => {
    const comercio = await environment.createComercio()
    const fakeLlave = `${comercio.llave.slice(0, -1)}${comercio.llave.endsWith('0') ? '1' : '0'}`
    const { respuesta: response, antes: before } = await exhaust(() => readCuenta(fakeLlave))
    expect(before).toBe(10)
    expect(response.body.mensaje).toMatch(/^Llegaron demasiadas llaves que no valen desde su red/)
    expect((await readCuenta(comercio.llave)).status).toBe(200)
  })

  it('have keys that nobody knows looked up one at a time, once too many from their network were none', async () => {
    const comercio = await environment.createComercio()
    const requestWithInventedLlave = () => readCuenta(newLlave('test').llave)
    expect((await readCuenta(comercio.llave)).status).toBe(200)
    await exhaust(requestWithInventedLlave)
    const client = await environment.db.pool.connect()
    try {
      await client.query('begin; lock table llave in access exclusive mode')
      const one = requestWithInventedLlave()
      await waitForLock(environment.db)
      // Were they looked up, they would wait like the first one.
      for (let i = 0; i < 20; i++) expect((await requestWithInventedLlave()).status).toBe(429)
      const knownRequest = readCuenta(comercio.llave)
      await client.query('commit')
      expect((await one).status).toBe(429)
      expect((await knownRequest).status).toBe(200)
    } finally {
      client.release(true)
    }
    // A good one that this process hasn't seen yet isn't locked out, either.
    expect((await readCuenta((await environment.createComercio()).llave)).status).toBe(200)
  })

  it('hold for what a merchant changes of his webhooks, and the audit record keeps no change of nothing', async () => {
    const { llave, api, id } = await environment.createComercio('test', { solicitudes: 25, guias: 100 })
    const { webhook } = await api.webhooks.crear({ url: 'http://127.0.0.1:9/', descripcion: 'uno' })
    const lines = async () => {
      await collectAudit(environment.db)
      return environment.db.prisma.bitacora.count({ where: { comercio_id: id } })
    }
    expect(await lines()).toBe(1)
    const change = (descripcion: string) =>
      environment.request('PATCH', `/api/v1/webhooks/${webhook}`, { llave, body: { descripcion } })
    for (let i = 0; i < 10; i++) expect((await change('uno')).status).toBe(200)
    expect(await lines()).toBe(1)
    let times = 0
    const { respuesta: response, antes: before } = await exhaust(() => change(`${++times}`))
    expect([before, await lines()]).toEqual([39, 40])
    expect(response.body.mensaje).toMatch(/^Se agotó el ritmo de cambios de su llave \(30 por minuto, 50 seguidas\)/)
    expect((await readCuenta(llave)).status).toBe(200)
  })

  it('are shared by all processes of this moment', async () => {
    const comercio = await environment.createComercio('test', { solicitudes: 100, guias: 100 })
    const politica = async () => (await readCuenta(comercio.llave)).headers.get('ratelimit-policy')
    expect(await politica()).toBe('"solicitudes";q=400;w=4')
    const variables = {
      DATABASE_URL: environment.databaseUrl,
      MASTER_KEYS: MASTER_KEY,
      MESSAGING: 'buzon',
      PORT: '0',
      DATA_DIR: environment.dataDir,
    }
    const other = await startService(readConfig(variables, process.cwd()), createLog('silent'), undefined, {
      farewellMs: 0,
    })
    try {
      await waitUntil(async () => (await politica()) === '"solicitudes";q=200;w=4')
    } finally {
      await other.stop()
    }
    await waitUntil(async () => (await politica()) === '"solicitudes";q=400;w=4')
  })

  it('forget a client that goes away while the service looks up its key', async () => {
    ms += 60_000
    const comercio = await environment.createComercio('test', { solicitudes: 100, guias: 1 })
    const client = await environment.db.pool.connect()
    const { port } = new URL(environment.url)
    try {
      await client.query('begin; lock table llave in access exclusive mode')
      const sockets = Array.from({ length: 250 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}))
      await Promise.all(sockets.map((socket) => once(socket, 'connect')))
      const requestData = `GET /api/v1/cuenta HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${comercio.llave}\r\n\r\n`
      for (const socket of sockets) socket.write(requestData)
      await waitForLock(environment.db)
      // An answer on a new connection comes after all that arrived before it was read.
      await environment.request('GET', '/healthz')
      const countCutResponses = () => environment.log.filter((line) => line.includes('"cortada":true')).length
      const before = countCutResponses()
      for (const socket of sockets) socket.destroy()
      await waitUntil(async () => countCutResponses() - before === 250)
    } finally {
      await client.query('commit')
      client.release()
    }
    const isAdmitted = async () => (await readCuenta(comercio.llave)).body.mensaje?.includes('a la vez') !== true
    expect(await isAdmitted()).toBe(true)
    expect((await readCuenta(comercio.llave)).status).toBe(200)
  })

  it('bound what is under way at once, and give it back', async () => {
    const limites = new Limits({ perOperador: 1, perNetwork: 1 })
    const [operacion, identity] = await cuentaDeComercio({ solicitudes: 1_000, guias: 1_000 })
    const admit = () => limites.admit(operacion, identity)
    const admissions = Array.from({ length: 1_100 }, admit)
    expect(admit).toThrow(/1100 a la vez es el máximo/)
    for (const admission of admissions) admission.finish()
    expect(admit).not.toThrow()
  })

  it('count the requests in progress of each mode separately', async () => {
    const limites = new Limits({ perOperador: 1, perNetwork: 1 })
    const [operacion, identity] = await cuentaDeComercio({ solicitudes: 1_000, guias: 1_000 })
    for (let running = 0; running < 1_100; running++) limites.admit(operacion, identity)
    expect(() => limites.admit(operacion, identity)).toThrow(/1100 a la vez es el máximo/)
    const liveOne = { ...identity, llave: 'OTRA', modo: 'live' as const }
    expect(() => limites.admit(operacion, liveOne)).not.toThrow()
  })

  it('end a request once, however often its end is told', async () => {
    const limites = new Limits({ perOperador: 1, perNetwork: 1 })
    const [operacion, identity] = await cuentaDeComercio({ solicitudes: 1_000, guias: 1_000 })
    const one = limites.admit(operacion, identity)
    limites.admit(operacion, identity)
    for (let i = 0; i < 3; i++) one.finish()
    for (let running = 1; running < 1_100; running++) limites.admit(operacion, identity)
    expect(() => limites.admit(operacion, identity)).toThrow(/1100 a la vez es el máximo/)
  })

  it('tell the policy of this moment, as processes come and go', async () => {
    let processes = 1
    const limites = new Limits({ perOperador: 1, perNetwork: 1, processes: () => processes, clock: () => 0 })
    const [operacion, identity] = await cuentaDeComercio({ solicitudes: 10, guias: 100 })
    const admission = limites.admit(operacion, identity)
    const politica = () => admission.headers['RateLimit-Policy']
    expect(politica()).toBe('"solicitudes";q=40;w=4')
    processes = 4
    expect(politica()).toBe('"solicitudes";q=10;w=4')
    expect(limites.admit(operacion, identity).headers['RateLimit-Policy']).toBe('"solicitudes";q=10;w=4')
    processes = 1
    expect(politica()).toBe('"solicitudes";q=40;w=4')
  })

  it('follow the figures as the key is read again', async () => {
    const limites = new Limits({ perOperador: 1, perNetwork: 1, clock: () => 0 })
    const [operacion, identity] = await cuentaDeComercio({ solicitudes: 10, guias: 100 })
    expect(limites.admit(operacion, identity).headers['RateLimit-Policy']).toBe('"solicitudes";q=40;w=4')
    const rereadIdentity = { ...identity, ritmos: { solicitudes: 2, guias: 100 } }
    expect(limites.admit(operacion, rereadIdentity).headers).toEqual({
      RateLimit: '"solicitudes";r=7;t=1',
      'RateLimit-Policy': '"solicitudes";q=8;w=4',
    })
  })

  it('bound pages, their files and paths that lead nowhere, by network', async () => {
    for (const path of ['/docs', '/nada', '/api/v1/nada']) {
      ms += 60_000
      const { respuesta: response, antes: before } = await exhaust(() => environment.request('HEAD', path))
      expect(before, path).toBeGreaterThan(20)
      expect(before, path).toBeLessThanOrEqual(50)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    // Others' doings aren't touched: whoever has a key, and health.
    expect((await readCuenta((await environment.createComercio()).llave)).status).toBe(200)
    expect((await environment.request('GET', '/readyz')).status).toBe(200)
    ms += 60_000
  })
})
