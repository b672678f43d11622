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
const puertoDeMetricas = await findFreePort()
const environment = useEnvironment({ limitsClock: () => ms }, () => ({
  METRICS_PORT: `${puertoDeMetricas}`,
  REQUESTS_PER_NETWORK: '5',
  REQUESTS_PER_OPERATOR_KEY: '10',
}))

const cuenta = (llave: string) => environment.request('GET', '/api/v1/cuenta', { llave })
const create = ({ llave }: Comercio) => environment.request('POST', '/api/v1/guias', { llave, cuerpo: buildGuia() })

/** Asks until it is told to wait. */
async function agotar(request: () => ReturnType<typeof environment.request>, maximo = 500) {
  for (let i = 0; i < maximo; i++) {
    const respuesta = await request()
    if (respuesta.status === 429) return { respuesta, antes: i }
  }
  throw new Error(`there was no 429 in ${maximo} requests`)
}

/** The operation `obtenerCuenta`, and who calls it with the key of a new merchant. */
async function cuentaDeComercio(ritmos: RitmosDeComercio) {
  const operacion = readOperations(readDocument()).find(({ id }) => id === 'obtenerCuenta')!
  const { llave } = await environment.createComercio('test', ritmos)
  const identidad = await createAuthenticators({ ...environment, usages: noUsages }).llaveDeComercio(llave)
  return [operacion, identidad!] as const
}

const number = (text: string | null, key: string) => Number(new RegExp(`${key}=(\\d+)`).exec(text ?? '')?.[1])

describe('the limits', () => {
  it('are told with every answer, and keep a key within its rhythm without touching anybody else’s', async () => {
    const one = await environment.createComercio('test', { solicitudes: 5, guias: 100 })
    const other = await environment.createComercio('test', { solicitudes: 5, guias: 100 })
    const first = await cuenta(one.llave)
    expect(first.cuerpo.ritmos).toEqual({ solicitudes: 5, guias: 100 })
    expect(first.cabeceras.get('ratelimit-policy')).toBe('"solicitudes";q=20;w=4')
    expect(first.cabeceras.get('ratelimit')).toMatch(/^"solicitudes";r=19;t=1$/)
    const { respuesta, antes } = await agotar(() => cuenta(one.llave))
    expect(antes).toBe(19)
    expect(respuesta.cuerpo).toMatchObject({
      codigo: 'demasiadas_solicitudes',
      mensaje: 'Se agotó el ritmo de solicitudes de su llave (5 por segundo, 20 seguidas). Repita en 1 segundo.',
    })
    expect(respuesta.cabeceras.get('retry-after')).toBe('1')
    expect(number(respuesta.cabeceras.get('ratelimit'), 'r')).toBe(0)
    expect((await cuenta(other.llave)).status).toBe(200)
    ms += 1_000
    expect((await agotar(() => cuenta(one.llave))).antes).toBe(5)
  })

  it('hold for all keys of a merchant together, of one mode', async () => {
    const comercio = await environment.createComercio('test', { solicitudes: 1, guias: 100 })
    const llaves = await Promise.all([1, 2, 3, 4].map(() => environment.createLlave(comercio)))
    const before = []
    for (const llave of llaves) before.push((await agotar(() => cuenta(llave))).antes)
    expect(before).toEqual([4, 4, 0, 0])
    expect((await cuenta(llaves.at(-1)!)).cuerpo.mensaje).toContain('de su cuenta')
    expect((await cuenta(await environment.createLlave(comercio, { modo: 'live' }))).status).toBe(200)
  })

  it('take one guide for a batch that is refused for its scope, before it is read', async () => {
    const comercio = await environment.createComercio('test', { solicitudes: 100, guias: 100 })
    const llave = await environment.createLlave(comercio, { alcances: ['guias:leer'] })
    const cuerpo = { guias: Array.from({ length: 15 }, () => buildGuia()) }
    const quedan = []
    for (let i = 0; i < 3; i++) {
      const { status, cabeceras } = await environment.request('POST', '/api/v1/guias/bulk', { llave, cuerpo })
      quedan.push([status, number(cabeceras.get('ratelimit')!.split(', ')[1]!, 'r')])
    }
    expect(quedan).toEqual([
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
        cuerpo: { guias: Array.from({ length: count }, () => buildGuia()) },
      })
    const first = await lote(15)
    expect(first.cuerpo).toMatchObject({ creadas: 15 })
    expect(first.cabeceras.get('ratelimit-policy')).toBe('"solicitudes";q=400;w=4, "guias";q=20;w=20')
    expect(first.cabeceras.get('ratelimit')).toBe('"solicitudes";r=399;t=1, "guias";r=5;t=15')
    // Whoever has something left may go over it, and then owes it.
    expect((await lote(30)).cuerpo).toMatchObject({ creadas: 30 })
    const negado = await lote(1)
    expect(negado.status).toBe(429)
    // A refused request gives back what it took from the other rates: 400 less two accepted batches.
    expect(negado.cabeceras.get('ratelimit')).toMatch(/^"solicitudes";r=398;/)
    expect(negado.cuerpo.mensaje).toMatch(
      /^Se agotó el ritmo de guías de su llave \(1 por segundo, 20 seguidas\)\. Repita en 26 segundos/,
    )
    expect((await create(comercio)).status).toBe(429)
    expect((await cuenta(comercio.llave)).status).toBe(200)
    expect(await environment.db.prisma.guia.count({ where: { comercio_id: comercio.id } })).toBe(45)
  })

  it('are changed by operators, and hold at once', async () => {
    const comercio = await environment.createComercio('test', { solicitudes: 1, guias: 1 })
    await agotar(() => cuenta(comercio.llave))
    const path = `/comercios/${comercio.comercio}`
    expect((await environment.operar('PATCH', path, { ritmos: { solicitudes: 0, guias: 1 } })).cuerpo.errores).toEqual([
      expect.objectContaining({ campo: '/ritmos/solicitudes', mensaje: 'debe ser un entero de 1 a 100000' }),
    ])
    const ritmos = { solicitudes: 500, guias: 900 }
    expect((await environment.operar('PATCH', path, { ritmos })).cuerpo).toMatchObject({ ritmos })
    await waitUntil(
      async () => (await cuenta(comercio.llave)).cabeceras.get('ratelimit-policy')?.includes('q=2000') === true,
    )
  })

  it('hold for an operator’s key, a courier’s session and a network without either', async () => {
    const operar = () => environment.operar('GET', '/comercios?limite=1')
    const antesDeOperar = (await agotar(operar)).antes
    expect(antesDeOperar).toBeLessThanOrEqual(40)
    const vida = () => environment.request('GET', '/healthz')
    expect((await agotar(vida)).respuesta.cuerpo.mensaje).toContain('de su red (5 por segundo, 50 seguidas)')
    ms += 60_000
    const { cookie } = await createMobile(environment)
    const sesion = () => environment.request('GET', '/repartidor/v1/guias', { cabeceras: { cookie } })
    const { respuesta, antes } = await agotar(sesion, 2_000)
    expect(antes).toBe(300)
    expect(respuesta.cuerpo.mensaje).toContain('de su sesión')
  })

  it('hold for codes that name no guide, which a courier asks for, and are told to the operator', async () => {
    ms += 600_000
    const phone = await createMobile(environment)
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    const other = await createMobile(environment)
    const { antes, respuesta } = await agotar(() => phone.request('GET', '/guias/7K3M9QX2A1B4'))
    expect([antes, respuesta.cuerpo.mensaje]).toEqual([
      60,
      'Buscó demasiadas guías que no existen. Repita en 2 segundos.',
    ])
    // Nor does he learn which ones exist.
    expect((await phone.request('GET', `/guias/${guia}`)).status).toBe(429)
    expect((await other.request('GET', `/guias/${guia}`)).status).toBe(200)
    // Whoever signs in anew goes on where he was.
    const deNuevo = await createMobile(environment, phone)
    expect((await deNuevo.request('GET', `/guias/${guia}`)).status).toBe(429)
    ms += 2_000
    expect((await phone.request('GET', `/guias/${guia}`)).status).toBe(200)
    // A list costs what it didn't find.
    const list = Array.from({ length: 30 }, (_, i) => `guia=${String(i).padStart(12, '0')}`).join('&')
    expect((await phone.request('GET', `/guias?${list}`)).status).toBe(200)
    expect((await phone.request('GET', `/guias/${guia}`)).status).toBe(429)
    // Lists that are asked for at once are looked up one after another, and each is charged before it is answered.
    ms += 600_000
    const aLaVez = await Promise.all(
      Array.from({ length: 8 }, () => {
        const cien = Array.from({ length: 100 }, () => `guia=${newGuideCode()}`).join('&')
        return phone.request('GET', `/guias?${cien}`)
      }),
    )
    expect(aLaVez.filter(({ status }) => status === 200)).toHaveLength(1)
    ms += 600_000
    const unaAUna = await Promise.all(
      Array.from({ length: 90 }, () => phone.request('GET', `/guias/${newGuideCode()}`)),
    )
    expect(unaAUna.filter(({ status }) => status === 404).length).toBeLessThanOrEqual(60)
    const avisos = environment.log.filter((line) => line.includes('unknown guides'))
    expect(avisos.length).toBeGreaterThan(0)
    for (const aviso of avisos) expect(JSON.parse(aviso)).toMatchObject({ level: 40, repartidor: phone.repartidor })
    const metricas = await (await fetch(`http://127.0.0.1:${puertoDeMetricas}/metrics`)).text()
    expect(metricas).toContain(`\nguias_repartidores_desconocidas_total ${avisos.length}\n`)
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
    const negada = await third()
    expect([negada.status, ((await negada.json()) as { mensaje: string }).mensaje]).toEqual([
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
    const repetir = () => fetch(url, { headers: { 'If-None-Match': etag } })
    let last = await repetir()
    for (let i = 0; last.status === 304 && i < 100; i++) last = await repetir()
    expect(((await last.json()) as { mensaje: string }).mensaje).toMatch(/^Se agotó el ritmo de etiquetas/)
    ms += 60_000
  })

  it('let nobody be locked out by strangers who try keys from the same network', async () => {
    const comercio = await environment.createComercio()
    const falsa = `${comercio.llave.slice(0, -1)}${comercio.llave.endsWith('0') ? '1' : '0'}`
    const { respuesta, antes } = await agotar(() => cuenta(falsa))
    expect(antes).toBe(10)
    expect(respuesta.cuerpo.mensaje).toMatch(/^Llegaron demasiadas llaves que no valen desde su red/)
    expect((await cuenta(comercio.llave)).status).toBe(200)
  })

  it('have keys that nobody knows looked up one at a time, once too many from their network were none', async () => {
    const comercio = await environment.createComercio()
    const inventada = () => cuenta(newLlave('test').llave)
    expect((await cuenta(comercio.llave)).status).toBe(200)
    await agotar(inventada)
    const client = await environment.db.pool.connect()
    try {
      await client.query('begin; lock table llave in access exclusive mode')
      const one = inventada()
      await waitForLock(environment.db)
      // Were they looked up, they would wait like the first one.
      for (let i = 0; i < 20; i++) expect((await inventada()).status).toBe(429)
      const conocida = cuenta(comercio.llave)
      await client.query('commit')
      expect((await one).status).toBe(429)
      expect((await conocida).status).toBe(200)
    } finally {
      client.release(true)
    }
    // A good one that this process hasn't seen yet isn't locked out, either.
    expect((await cuenta((await environment.createComercio()).llave)).status).toBe(200)
  })

  it('hold for what a merchant changes of his webhooks, and the audit record keeps no change of nothing', async () => {
    const { llave, api, id } = await environment.createComercio('test', { solicitudes: 25, guias: 100 })
    const { webhook } = await api.webhooks.crear({ url: 'http://127.0.0.1:9/', descripcion: 'uno' })
    const lines = async () => {
      await collectAudit(environment.db)
      return environment.db.prisma.bitacora.count({ where: { comercio_id: id } })
    }
    expect(await lines()).toBe(1)
    const cambiar = (descripcion: string) =>
      environment.request('PATCH', `/api/v1/webhooks/${webhook}`, { llave, cuerpo: { descripcion } })
    for (let i = 0; i < 10; i++) expect((await cambiar('uno')).status).toBe(200)
    expect(await lines()).toBe(1)
    let times = 0
    const { respuesta, antes } = await agotar(() => cambiar(`${++times}`))
    expect([antes, await lines()]).toEqual([39, 40])
    expect(respuesta.cuerpo.mensaje).toMatch(/^Se agotó el ritmo de cambios de su llave \(30 por minuto, 50 seguidas\)/)
    expect((await cuenta(llave)).status).toBe(200)
  })

  it('are shared by all processes of this moment', async () => {
    const comercio = await environment.createComercio('test', { solicitudes: 100, guias: 100 })
    const politica = async () => (await cuenta(comercio.llave)).cabeceras.get('ratelimit-policy')
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
      const pedido = `GET /api/v1/cuenta HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${comercio.llave}\r\n\r\n`
      for (const socket of sockets) socket.write(pedido)
      await waitForLock(environment.db)
      // An answer on a new connection comes after all that arrived before it was read.
      await environment.request('GET', '/healthz')
      const cortadas = () => environment.log.filter((line) => line.includes('"cortada":true')).length
      const before = cortadas()
      for (const socket of sockets) socket.destroy()
      await waitUntil(async () => cortadas() - before === 250)
    } finally {
      await client.query('commit')
      client.release()
    }
    const limpias = async () => (await cuenta(comercio.llave)).cuerpo.mensaje?.includes('a la vez') !== true
    expect(await limpias()).toBe(true)
    expect((await cuenta(comercio.llave)).status).toBe(200)
  })

  it('bound what is under way at once, and give it back', async () => {
    const limites = new Limits({ perOperador: 1, perNetwork: 1 })
    const [operacion, identidad] = await cuentaDeComercio({ solicitudes: 1_000, guias: 1_000 })
    const admitir = () => limites.admit(operacion, identidad)
    const admisiones = Array.from({ length: 1_100 }, admitir)
    expect(admitir).toThrow(/1100 a la vez es el máximo/)
    for (const admision of admisiones) admision.finish()
    expect(admitir).not.toThrow()
  })

  it('count the requests in progress of each mode separately', async () => {
    const limites = new Limits({ perOperador: 1, perNetwork: 1 })
    const [operacion, identidad] = await cuentaDeComercio({ solicitudes: 1_000, guias: 1_000 })
    for (let enCurso = 0; enCurso < 1_100; enCurso++) limites.admit(operacion, identidad)
    expect(() => limites.admit(operacion, identidad)).toThrow(/1100 a la vez es el máximo/)
    const enVivo = { ...identidad, llave: 'OTRA', modo: 'live' as const }
    expect(() => limites.admit(operacion, enVivo)).not.toThrow()
  })

  it('end a request once, however often its end is told', async () => {
    const limites = new Limits({ perOperador: 1, perNetwork: 1 })
    const [operacion, identidad] = await cuentaDeComercio({ solicitudes: 1_000, guias: 1_000 })
    const one = limites.admit(operacion, identidad)
    limites.admit(operacion, identidad)
    for (let i = 0; i < 3; i++) one.finish()
    for (let enCurso = 1; enCurso < 1_100; enCurso++) limites.admit(operacion, identidad)
    expect(() => limites.admit(operacion, identidad)).toThrow(/1100 a la vez es el máximo/)
  })

  it('tell the policy of this moment, as processes come and go', async () => {
    let processes = 1
    const limites = new Limits({ perOperador: 1, perNetwork: 1, processes: () => processes, clock: () => 0 })
    const [operacion, identidad] = await cuentaDeComercio({ solicitudes: 10, guias: 100 })
    const admision = limites.admit(operacion, identidad)
    const politica = () => admision.cabeceras['RateLimit-Policy']
    expect(politica()).toBe('"solicitudes";q=40;w=4')
    processes = 4
    expect(politica()).toBe('"solicitudes";q=10;w=4')
    expect(limites.admit(operacion, identidad).cabeceras['RateLimit-Policy']).toBe('"solicitudes";q=10;w=4')
    processes = 1
    expect(politica()).toBe('"solicitudes";q=40;w=4')
  })

  it('follow the figures as the key is read again', async () => {
    const limites = new Limits({ perOperador: 1, perNetwork: 1, clock: () => 0 })
    const [operacion, identidad] = await cuentaDeComercio({ solicitudes: 10, guias: 100 })
    expect(limites.admit(operacion, identidad).cabeceras['RateLimit-Policy']).toBe('"solicitudes";q=40;w=4')
    const releida = { ...identidad, ritmos: { solicitudes: 2, guias: 100 } }
    expect(limites.admit(operacion, releida).cabeceras).toEqual({
      RateLimit: '"solicitudes";r=7;t=1',
      'RateLimit-Policy': '"solicitudes";q=8;w=4',
    })
  })

  it('bound pages, their files and paths that lead nowhere, by network', async () => {
    for (const path of ['/docs', '/nada', '/api/v1/nada']) {
      ms += 60_000
      const { respuesta, antes } = await agotar(() => environment.request('HEAD', path))
      expect(antes, path).toBeGreaterThan(20)
      expect(antes, path).toBeLessThanOrEqual(50)
      expect(Number(respuesta.cabeceras.get('retry-after'))).toBeGreaterThan(0)
    }
    // Others' doings aren't touched: whoever has a key, and health.
    expect((await cuenta((await environment.createComercio()).llave)).status).toBe(200)
    expect((await environment.request('GET', '/readyz')).status).toBe(200)
    ms += 60_000
  })
})
