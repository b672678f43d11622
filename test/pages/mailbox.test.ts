import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Guias } from '@guias/sdk'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Db, openDb } from '../../server/data/db.ts'
import { acquirePostgres, type EmbeddedPostgres } from '../../server/data/embedded/embedded.ts'
import { newComercioCode } from '../../server/domain/comercios/comercio.ts'
import { saveLlave } from '../../server/domain/identities/llave.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { inGroups } from '../../server/platform/codes/guideCode.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { createLog } from '../../server/platform/log.ts'
import { type Service, startService } from '../../server/startup/service.ts'
import { captureScreen, hasBrowser, openContext } from '../browser.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, FULL_RUN_ONLY, waitUntil } from '../factories.ts'

const HOSTILE_NAME = `<img src=x onerror="document.title='roto'"> "S. A." & 'Cía' </li><script>document.title='roto'</script>`

// The embedded default, as `npm start` runs it.
const dataDir = mkdtempSync(join(tmpdir(), 'guias-buzon-'))
chmodSync(dataDir, 0o755) // or root's PostgreSQL would keep its data elsewhere
const lines: string[] = []
const consola: string[] = []
let service: Service
let pg: EmbeddedPostgres
let db: Db

beforeAll(async () => {
  const config = readConfig({ DATA_DIR: dataDir, PORT: '0', MAP_TILES_URL: 'none' }, process.cwd())
  service = await startService(config, createLog('info', { write: (line) => lines.push(line) }), (line) =>
    consola.push(line),
  )
  pg = await acquirePostgres({ dataDir, exclusive: false })
  db = openDb(pg.url, { connections: 2 })
})
afterAll(async () => {
  await db?.close()
  await pg?.release()
  await service?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function createComercio(nombre: string) {
  const newId = createIdGenerator(() => new Date())
  const comercio = newComercioCode()
  const { id } = await db.prisma.comercio.create({ data: { ...newId(), comercio, nombre } })
  const { llave } = await saveLlave(db, new Date(), { comercioId: id, comercio, modo: 'test' })
  return new Guias({ llave, baseUrl: service.url })
}
const fresh = async (api: Guias, cambios = {}) => {
  const { guia } = await api.guias.crear(
    buildGuiaWithoutDestino({ departamento: 'Guatemala', municipio: 'Mixco', ...cambios }),
  )
  await waitUntil(async () => (await api.guias.obtener(guia)).ubicacion.solicitud?.estado === 'enviado')
  return guia
}
const readBuzon = async () => (await fetch(`${service.url}/buzon`)).text()

describe('/buzon', () => {
  it('is empty at first, and said on the console', async () => {
    expect(consola.join('\n')).toContain(`${service.url}/buzon`)
    const response = await fetch(`${service.url}/buzon`)
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('Todavía no hay mensajes')
    const { headers } = response
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-robots-tag')).toBe('noindex')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}' 'sha256-[\w+/=]{44}'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
    )
    expect((await fetch(`${service.url}/buzon`, { method: 'HEAD' })).status).toBe(200)
  })

  it('shows the mails of the first person, who was invited on the console', async () => {
    const [, link] = /Primera cuenta (http:\/\/localhost:\d+\/invitacion\/[\w-]{43})/.exec(consola.join('\n'))!
    const { pathname } = new URL(link!)
    expect(await (await fetch(service.url + pathname)).text()).toContain('name="correo"')
    const send = (path: string, fields: Record<string, string>) =>
      fetch(service.url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { Origin: service.url },
        body: new URLSearchParams(fields),
      })
    expect((await send(pathname, { correo: 'ana@ejemplo.com', nombre: 'Ana' })).status).toBe(303)
    expect((await send('/entrar', { correo: 'ana@ejemplo.com' })).status).toBe(303)
    await waitUntil(async () =>
      /Para ana@ejemplo.com · enviado[\s\S]*<code class="codigo">\d{6}</.test(await readBuzon()),
    )
    await db.pool.query('delete from correo')
  })

  it('names nothing that a merchant wrote as anything but text', async () => {
    const api = await createComercio(HOSTILE_NAME)
    await fresh(api, { municipio: '<b>Mixco</b>' })
    const html = await readBuzon()
    expect(html).not.toMatch(/<img|<script|<b>/)
    expect(html).toContain('&lt;b&gt;Mixco&lt;/b&gt;')
    expect(html.match(/<li class="mensaje">/g)).toHaveLength(1)
  })

  it('has the link with which a recipient decides after a failed attempt', async () => {
    const api = await createComercio('Tienda que pregunta')
    await db.pool.query(
      `update comercio set politica_de_intentos_destinatario_decide = true where nombre = 'Tienda que pregunta'`,
    )
    const { guia } = await api.guias.crear(buildGuia())
    for (const estado of ['recolectado', 'en_ruta', 'intento_fallido'] as const)
      await api.simulador.avanzar(guia, { estado })
    await waitUntil(async () => / href="[^"]*\bd\/[\w-]{22}"/.test(await readBuzon()))
    const html = await readBuzon()
    expect(html).toContain('No pudimos entregarle su paquete de Tienda que pregunta. Díganos qué hacemos, hasta el ')
    const [, path] = /href="([^"]*\bd\/[\w-]{22})">Decidir/.exec(html)!
    const page = await fetch(new URL(path!, `${service.url}/buzon`))
    expect([page.status, (await page.text()).includes('¿Qué hacemos con su paquete?')]).toEqual([200, true])
  })

  it('leaves out a message that its guide no longer needed', async () => {
    const api = await createComercio('Tienda de una')
    const guia = await fresh(api)
    expect(await readBuzon()).toContain(inGroups(guia))
    await db.pool.query(`update mensaje set estado = 'descartado' where guia = $1`, [guia])
    expect(await readBuzon()).not.toContain(inGroups(guia))
  })

  it('shows the newest first, at most a hundred, and no message that wasn’t sent', async () => {
    const api = await createComercio('Tienda de muchas')
    const guias = Array.from({ length: 100 }, () => buildGuiaWithoutDestino())
    const { resultados } = await api.guias.crearLote({ guias })
    const last = await fresh(api, { telefono: '+50255550101' })
    const html = await readBuzon()
    expect(html.match(/<li class="mensaje">/g)).toHaveLength(100)
    expect(html.match(/<time datetime="[^"]+">\d\d? \w{3} \d{4}, \d\d:\d\d<\/time>/g)).toHaveLength(100)
    expect(/guía (.+?) ·/.exec(html)?.[1]).toBe(inGroups(last))
    expect(html).not.toContain('Cía')
    expect(resultados).toHaveLength(100)
  })
})

describe('with a database of one’s own', () => {
  const environment = shareEnvironment()
  it('there is no such page', async () => {
    const { status, body } = await environment.request('GET', '/buzon')
    expect([status, body.codigo]).toEqual([404, 'ruta_desconocida'])
  })
})

describe('/buzon, with telephones and no key,', () => {
  it('is for who asks for it by a name of this machine: no other site can read it by leading its own name here', async () => {
    const { port } = new URL(service.url)
    const status = (host: string) =>
      new Promise((resolve, reject) => {
        get({ port, path: '/buzon', headers: { host } }, (res) => resolve(res.resume().statusCode)).once(
          'error',
          reject,
        )
      })
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, '127.0.0.1'])
      expect([host, await status(host)]).toEqual([host, 200])
    for (const host of [`malo.ejemplo:${port}`, '127.0.0.1.malo.ejemplo', '10.0.0.7', 'localhost.', 'a b'])
      expect([host, await status(host)]).toEqual([host, 404])
  })

  it('is off, like webhooks to this machine, where others reach the service, unless it is asked for', () => {
    const read = (env: Record<string, string>) => {
      const { buzon, webhooksLoopback } = readConfig(env, process.cwd())
      return [buzon, webhooksLoopback]
    }
    for (const HOST of ['', '127.0.0.1', '127.8.8.8', 'localhost', '::1'])
      expect([HOST, read({ HOST })]).toEqual([HOST, [true, true]])
    for (const HOST of ['0.0.0.0', '::', '10.0.0.7', 'guias.ejemplo']) {
      expect([HOST, read({ HOST })]).toEqual([HOST, [false, false]])
      expect(read({ HOST, MAILBOX: '1', WEBHOOKS_LOOPBACK: '1' })).toEqual([true, true])
    }
    for (const PUBLIC_URL of ['http://localhost:3000', 'https://127.0.0.1:8443/guias', 'http://[::1]:3000'])
      expect([PUBLIC_URL, read({ PUBLIC_URL, TRUST_PROXY: '0' })]).toEqual([PUBLIC_URL, [true, true]])
    for (const PUBLIC_URL of [
      'https://guias.ejemplo',
      'http://10.0.0.7:3000',
      'http://localhost.ejemplo',
      'http://127.ejemplo',
    ])
      expect([PUBLIC_URL, read({ PUBLIC_URL })]).toEqual([PUBLIC_URL, [false, false]])
    expect(read({ TRUST_PROXY: '1' })).toEqual([false, false])
    const DATABASE_URL = 'postgres://u:c@h/b'
    const MASTER_KEYS = Buffer.alloc(32).toString('base64')
    expect(read({ DATABASE_URL, MASTER_KEYS, MESSAGING: 'buzon' })).toEqual([false, false])
  })
})

describe.skipIf(!hasBrowser)('/buzon in a browser', () => {
  let page: Page
  const errores: string[] = []
  const sentRequests: { url: string; referer: string | undefined }[] = []

  beforeAll(async () => {
    const context = await openContext({
      viewport: { width: 390, height: 844 },
      permissions: ['geolocation'],
      geolocation: { latitude: 14.6333, longitude: -90.6064, accuracy: 12 },
    })
    context.on('console', (mensaje) => {
      if (['error', 'warning'].includes(mensaje.type())) errores.push(mensaje.text().slice(0, 300))
    })
    context.on('weberror', (error) => errores.push(error.error().message))
    context.on('request', (one) => sentRequests.push({ url: one.url(), referer: one.headers().referer }))
    page = await context.newPage()
  })
  afterAll(() => page?.context().close())

  it('leads to the recipient’s page, and says afterwards that it is confirmed', async () => {
    const api = await createComercio('Zapatería El Paso')
    await fresh(await createComercio(HOSTILE_NAME))
    const guia = await fresh(api, { destinatario: 'María José Ajú' })
    await page.goto(`${service.url}/buzon`)
    expect(await page.title()).toBe('Buzón de mensajes')
    const mensaje = page.locator('li').filter({ hasText: inGroups(guia) })
    expect(await mensaje.innerText()).toMatch(/3148 1676[\s\S]*Zapatería El Paso le envía un paquete a Mixco/)
    await captureScreen(page, 'buzon-antes')
    await mensaje.getByRole('link', { name: 'Decir dónde es' }).click()
    await page.waitForURL(/\/u\/[\w-]{22}$/)
    const token = new URL(page.url()).pathname.slice(3)
    await page.getByText('Hola, María').waitFor()
    await page.getByRole('button', { name: 'Usar mi ubicación' }).click()
    await page.getByText('precisión de unos 12 metros').first().waitFor()
    await captureScreen(page, 'buzon-pagina')
    await page.getByRole('button', { name: 'Confirmar' }).click()
    await page.getByRole('heading', { name: '¡Gracias, María!' }).waitFor()
    expect((await api.guias.obtener(guia)).ubicacion).toMatchObject({
      estado: 'confirmada',
      origen: 'destinatario',
      lat: 14.6333,
      lng: -90.6064,
      precision_m: 12,
    })
    await page.goto(`${service.url}/buzon`)
    await mensaje.getByRole('link', { name: 'Ver el lugar confirmado' }).click()
    await page.getByRole('heading', { name: '¡Gracias, María!' }).waitFor()
    await page.goto(`${service.url}/buzon`)
    await captureScreen(page, 'buzon-despues')
    expect(await page.title()).toBe('Buzón de mensajes')
    expect(errores).toEqual([])
    // The secret of the link went nowhere else: no Referer, no other host, no log.
    expect(sentRequests.every(({ url }) => url.startsWith(`${service.url}/`))).toBe(true)
    expect(sentRequests.map(({ referer }) => referer ?? '').join()).not.toContain(token)
    expect(lines.join('\n')).not.toContain(token)
    expect(lines.join('\n')).not.toMatch(/31481676|14\.6333/)
  })

  it('fits a phone, and a dark one', FULL_RUN_ONLY, async () => {
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.goto(`${service.url}/buzon`)
    await captureScreen(page, 'buzon-oscuro')
    const medidas = await (await page.context().newCDPSession(page)).send('Page.getLayoutMetrics')
    expect(medidas.cssContentSize.width).toBeLessThanOrEqual(390)
  })
})
