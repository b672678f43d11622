import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32, deflateSync } from 'node:zlib'
import axe from 'axe-core'
import express from 'express'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { crearLimite } from '../../server/http/limite.ts'
import { servirUbicacion } from '../../server/paginas/ubicacion/ruta.ts'
import type {
  DatosDeSolicitud,
  LugarPropuesto,
  ResultadoDeConfirmacion,
  Solicitudes,
} from '../../server/ubicacion/solicitud.ts'
import { COMPLETO } from '../fabricas.ts'
import { abrirContexto, hayNavegador } from '../navegador.ts'

const MIXCO = { lat: 14.6333, lng: -90.6064 }
const ABIERTA: DatosDeSolicitud = {
  estado: 'abierta',
  comercio: 'Zapatería El Paso',
  destinatario: 'María Fernanda Ajú López',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  direccion: '4a. calle 5-20, zona 1',
  centro: MIXCO,
  confirmado: null,
}

/** The service behind the page, in memory: what the page asks of it, and what it answers. */
function crearPaginas() {
  const solicitudes = new Map<string, DatosDeSolicitud>()
  const confirmaciones: LugarPropuesto[] = []
  let lecturas = 0
  let responder: ((lugar: LugarPropuesto) => ResultadoDeConfirmacion | undefined) | undefined
  const puerto: Solicitudes = {
    async leer(token) {
      lecturas++
      return solicitudes.get(token)
    },
    async confirmar(token, lugar) {
      confirmaciones.push(lugar)
      const datos = solicitudes.get(token)
      if (!datos) return { ok: false, motivo: 'desconocida' }
      if (datos.estado === 'vencida' || datos.estado === 'cerrada') return { ok: false, motivo: datos.estado }
      const resultado = responder?.(lugar)
      if (resultado) return resultado
      const { lat = null, lng = null, referencia = null } = lugar
      solicitudes.set(token, { ...datos, estado: 'confirmada', confirmado: { lat, lng, referencia } })
      return { ok: true }
    },
  }
  let cuenta = 0
  return {
    puerto,
    confirmaciones,
    lecturas: () => lecturas,
    responder: (como: typeof responder) => {
      responder = como
    },
    nueva(cambios: Partial<DatosDeSolicitud> = {}) {
      const token = `tok_${String(++cuenta).padStart(18, '0')}`
      solicitudes.set(token, { ...ABIERTA, ...cambios })
      return token
    },
    /** Everything as before the test; a token is never used twice. */
    vaciar() {
      confirmaciones.length = 0
      responder = undefined
      lecturas = 0
    },
  }
}

/** A tile as the server of a map would send it: green, with an edge, and paler towards one corner. */
const TESELA = (() => {
  const lado = 256
  const crudo = Buffer.alloc((lado * 3 + 1) * lado)
  for (let y = 0; y < lado; y++) {
    for (let x = 0; x < lado; x++) {
      const calle = x % 64 < 5 || y % 64 < 5
      crudo.set(calle ? [250, 250, 245] : [196 + (x >> 4), 222, 190 + (y >> 4)], y * (lado * 3 + 1) + 1 + x * 3)
    }
  }
  const trozo = (tipo: string, datos: Buffer) => {
    const cuerpo = Buffer.concat([Buffer.from(tipo), datos])
    const [largo, suma] = [Buffer.alloc(4), Buffer.alloc(4)]
    largo.writeUInt32BE(datos.length)
    suma.writeUInt32BE(crc32(cuerpo))
    return Buffer.concat([largo, cuerpo, suma])
  }
  const cabecera = Buffer.from([0, 0, 1, 0, 0, 0, 1, 0, 8, 2, 0, 0, 0])
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    trozo('IHDR', cabecera),
    trozo('IDAT', deflateSync(crudo)),
    trozo('IEND', Buffer.alloc(0)),
  ])
})()

const escuchar = (servidor: Server) =>
  new Promise<string>((resolve) => {
    servidor.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(servidor.address() as AddressInfo).port}`))
  })

const falso = crearPaginas()
const remitentes: (string | undefined)[] = []
const teselas = createServer((req, res) => {
  remitentes.push(req.headers.referer)
  res.setHeader('Content-Type', 'image/png')
  res.end(TESELA)
})
let ahora = 0
let servidor: Server
let url = ''
let mosaico = ''

beforeAll(async () => {
  mosaico = await escuchar(teselas)
  const app = express()
  servirUbicacion(app, {
    solicitudes: falso.puerto,
    mosaicos: { url: `${mosaico}/{z}/{x}/{y}.png`, atribucion: '© OpenStreetMap' },
    reloj: () => ahora,
  })
  servidor = createServer(app)
  url = await escuchar(servidor)
})
beforeEach(() => {
  falso.vaciar()
  ahora += 60_000 // everybody's bucket is full again
})
afterAll(() => {
  teselas.close()
  servidor.closeAllConnections()
  servidor.close()
})

const enviar = (token: string, campos: Record<string, string>, cabeceras: Record<string, string> = {}) =>
  fetch(`${url}/u/${token}`, {
    method: 'POST',
    body: new URLSearchParams(campos).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...cabeceras },
    redirect: 'manual',
  })

describe('what the page sends', () => {
  it('is private, strict and without effect, however often it is opened', async () => {
    const token = falso.nueva()
    for (let i = 0; i < 50; i++) expect((await fetch(`${url}/u/${token}`)).status).toBe(200)
    const respuesta = await fetch(`${url}/u/${token}`, { method: 'HEAD' })
    expect([respuesta.status, await respuesta.text()]).toEqual([200, ''])
    expect(falso.confirmaciones).toEqual([])
    expect(Object.fromEntries(respuesta.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
      'x-content-type-options': 'nosniff',
      'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' ${mosaico}; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    })
    expect(respuesta.headers.get('set-cookie')).toBeNull()
  })

  it('shows the first name alone, and nobody in its title', async () => {
    const html = await (await fetch(`${url}/u/${falso.nueva()}`)).text()
    expect(html).toContain('Hola, María.')
    expect(html).not.toMatch(/Ajú|López|Fernanda/)
    expect(/<title>(.*)<\/title>/.exec(html)?.[1]).toBe('¿Dónde le entregamos su paquete?')
    expect(html).not.toMatch(/<style|style="|<script(?![^>]*\bsrc=)| on\w+="/)
  })

  it.each([
    ['unknown', 'desconocido0000000000A', 404],
    ['too short', 'corto', 404],
    ['not of our letters', 'tok_00000000000000000%C3%B1', 404],
    ['badly encoded', 'tok_0000000000000000%ZZ', 404],
    ['below another', 'tok_000000000000000001/x', 404],
  ])('says 404 for a token that is %s', async (_que, token, status) => {
    const respuesta = await fetch(`${url}/u/${token}`)
    expect(respuesta.status).toBe(status)
    expect(await respuesta.text()).toContain('No encontramos este enlace')
  })

  it.each([
    ['vencida', 410, 'Este enlace ya venció'],
    ['cerrada', 200, 'Ya no hace falta confirmar'],
  ] as const)('tells nothing of a parcel whose request is %s', async (estado, status, titulo) => {
    const token = falso.nueva({ estado })
    for (const respuesta of [await fetch(`${url}/u/${token}`), await enviar(token, { enlace: 'geo:14.6,-90.5' })]) {
      expect(respuesta.status).toBe(status)
      const html = await respuesta.text()
      expect(html).toContain(titulo)
      expect(html).not.toMatch(/María|Zapatería|Mixco|calle/)
    }
  })

  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])('knows no %s', async (method) => {
    const respuesta = await fetch(`${url}/u/${falso.nueva()}`, { method })
    expect([respuesta.status, respuesta.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
  })

  it('escapes whatever it shows', async () => {
    const malo = `"><script>alert(1)</script>'&`
    const token = falso.nueva({ comercio: malo, destinatario: malo, direccion: malo, municipio: malo })
    falso.responder(() => ({ ok: false, motivo: 'enlace_invalido', mensaje: malo }))
    const html = await (await enviar(token, { referencia: `${malo}</textarea>`, enlace: malo, lat: malo })).text()
    expect(html).not.toMatch(/<script>|<\/textarea>[^<]*<\/textarea>/)
    expect(html.match(/&lt;script&gt;/g)?.length).toBeGreaterThanOrEqual(6)
  })

  it('answers an error of ours with a page, and no details', async () => {
    const token = falso.nueva()
    const espia = vi.spyOn(falso.puerto, 'leer').mockRejectedValue(new Error(`no database for ${token}`))
    const respuesta = await fetch(`${url}/u/${token}`)
    espia.mockRestore()
    expect([respuesta.status, respuesta.headers.get('retry-after')]).toEqual([503, '10'])
    const html = await respuesta.text()
    expect(html).toContain('Algo nos falló')
    expect(html).not.toContain(token)
  })

  it('offers no map without tiles, and admits no foreign pictures then', async () => {
    const app = express()
    servirUbicacion(app, { solicitudes: falso.puerto, mosaicos: null })
    const otro = createServer(app)
    const respuesta = await fetch(`${await escuchar(otro)}/u/${falso.nueva()}`)
    expect(await respuesta.text()).not.toMatch(/id="mapa"|mapa\.[0-9a-f]+\.js/)
    expect(respuesta.headers.get('content-security-policy')).toContain("img-src 'self';")
    otro.closeAllConnections()
    otro.close()
  })
})

describe('its own files', () => {
  it('have names that change with them, and are kept for ever', async () => {
    const html = await (await fetch(`${url}/u/${falso.nueva()}`)).text()
    const nombres = [...html.matchAll(/\.\.\/(u-recursos\/[\w.]+)/g)].map(([, nombre]) => nombre!)
    expect(nombres.map((nombre) => nombre.replace(/[0-9a-f]{12}/, '#')).sort()).toEqual(
      ['estilo.#.css', 'icono.#.svg', 'mapa.#.css', 'mapa.#.js', 'navegador.#.js'].map((n) => `u-recursos/${n}`),
    )
    for (const nombre of nombres) {
      for (const codificacion of ['br', 'gzip', 'identity']) {
        const respuesta = await fetch(`${url}/${nombre}`, { headers: { 'Accept-Encoding': codificacion } })
        expect(respuesta.status).toBe(200)
        expect(respuesta.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
        expect(respuesta.headers.get('x-content-type-options')).toBe('nosniff')
        expect(respuesta.headers.get('content-type')).toMatch(
          { js: /^text\/javascript/, css: /^text\/css/, svg: /^image\/svg/ }[nombre.split('.').at(-1)!]!,
        )
        expect((await respuesta.text()).length).toBeGreaterThan(100)
      }
    }
    expect((await fetch(`${url}/${nombres[0]!.replace(/[0-9a-f]{12}/, '0'.repeat(12))}`)).status).toBe(404)
    expect((await fetch(`${url}/${nombres[0]}`, { method: 'POST' })).status).toBe(405)
  })
})

describe('a posted form', () => {
  it('is confirmed and answered with the way back', async () => {
    const token = falso.nueva()
    const respuesta = await enviar(token, {
      lat: '14.6349',
      lng: '-90.5069',
      precision_m: '12',
      metodo: 'gps',
      enlace: 'https://maps.app.goo.gl/viejo',
      referencia: '  portón\r\nverde\u202e ',
    })
    expect([respuesta.status, respuesta.headers.get('location')]).toEqual([303, token])
    expect(falso.confirmaciones).toEqual([
      { seguro: false, metodo: 'gps', lat: 14.6349, lng: -90.5069, precision_m: 12, referencia: 'portón verde' },
    ])
    const gracias = await (await fetch(`${url}/u/${token}`)).text()
    expect(gracias).toContain('¡Gracias, María!')
    expect(gracias).toContain('portón verde')
  })

  it('may hold a link with words around it', async () => {
    await enviar(falso.nueva(), { enlace: 'Mi casa https://maps.app.goo.gl/abc123', lat: '', lng: '', metodo: '' })
    expect(falso.confirmaciones).toEqual([
      { seguro: false, metodo: 'enlace', enlace: 'https://maps.app.goo.gl/abc123' },
    ])
  })

  it.each([
    ['nothing', {}, 'Falta el lugar'],
    ['a reference alone', { referencia: 'portón' }, 'Falta el lugar'],
    ['half a point', { metodo: 'mapa', lat: '14.6', lng: '' }, 'No pudimos leer el lugar'],
    ['no number', { metodo: 'gps', lat: '1e1', lng: '-90' }, 'No pudimos leer el lugar'],
    ['a point off the Earth', { metodo: 'gps', lat: '91', lng: '-90' }, 'No pudimos leer el lugar'],
    ['a long reference', { enlace: 'geo:14,-90', referencia: 'ñ'.repeat(201) }, 'La descripción es muy larga'],
  ] as [string, Record<string, string>, string][])('with %s comes back as it was', async (_que, campos, mensaje) => {
    const respuesta = await enviar(falso.nueva(), campos)
    expect(respuesta.status).toBe(422)
    const html = await respuesta.text()
    expect(html).toContain(mensaje)
    for (const valor of Object.values(campos)) expect(html).toContain(valor)
    expect(falso.confirmaciones).toEqual([])
  })

  it.each([
    ['enlace_invalido', 'enlace'],
    ['coordenadas_invalidas', 'lugar'],
    ['sin_lugar', 'lugar'],
    ['referencia_larga', 'referencia'],
  ] as const)('that is refused as %s says so where it is put right', async (motivo, campo) => {
    falso.responder(() => ({ ok: false, motivo, mensaje: 'Esto no <sirve>.' }))
    const respuesta = await enviar(falso.nueva(), { enlace: 'https://example.com/', referencia: 'portón' })
    expect(respuesta.status).toBe(422)
    const html = await respuesta.text()
    expect(html).toContain(`<a href="#${campo}">Esto no &lt;sirve&gt;.</a>`)
    expect(html).toContain('value="https://example.com/"')
    expect(html).toContain('portón')
  })

  it('is asked about when it is far away, and may be corrected or insisted on', async () => {
    falso.responder(({ seguro }) => (seguro ? undefined : { ok: false, motivo: 'lejos', distancia_km: 171.6 }))
    const token = falso.nueva()
    const campos = { metodo: 'mapa', lat: '15.5', lng: '-89.1', referencia: 'frente al muelle' }
    const pregunta = await enviar(token, campos)
    expect(pregunta.status).toBe(422)
    const html = await pregunta.text()
    expect(html).toContain('172\u00a0km')
    expect(html).toContain('Mixco, Guatemala')
    const corregida = await enviar(token, { ...campos, accion: 'corregir' })
    expect(corregida.status).toBe(200)
    expect(await corregida.text()).toContain('frente al muelle')
    expect((await enviar(token, { ...campos, seguro: '1' })).status).toBe(303)
    expect(falso.confirmaciones.at(-1)).toMatchObject({ seguro: true, lat: 15.5, referencia: 'frente al muelle' })
  })

  it.each([
    ['another type', '{}', { 'Content-Type': 'application/json' }, 415],
    ['compression', 'enlace=x', { 'Content-Encoding': 'gzip' }, 415],
    ['8 KB', `enlace=${'x'.repeat(8_192)}`, {}, 413],
    ['a field that is not ours', 'enlace=x&admin=1', {}, 400],
    ['a field twice', 'enlace=x&enlace=y', {}, 400],
    ['half an escape', 'enlace=%4', {}, 400],
    ['something that is not UTF-8', 'enlace=%ff', {}, 400],
  ] as [string, string, Record<string, string>, number][])('with %s is refused', async (_que, body, extra, status) => {
    const respuesta = await fetch(`${url}/u/${falso.nueva()}`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...extra },
    })
    expect(respuesta.status).toBe(status)
    expect(await respuesta.text()).toContain('No pudimos leer eso')
    expect(falso.confirmaciones).toEqual([])
  })
})

it('reads no more of a form than its limit, whatever was announced', async () => {
  const mucho = new ReadableStream({
    start(salida) {
      salida.enqueue(new TextEncoder().encode(`enlace=${'x'.repeat(9_000)}`))
      salida.close()
    },
  })
  const respuesta = await fetch(`${url}/u/${falso.nueva()}`, {
    method: 'POST',
    body: mucho,
    duplex: 'half',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  } as RequestInit)
  expect(respuesta.status).toBe(413)
})

describe('the limits', () => {
  it('hold per address and link, and say for how long', async () => {
    const [token, otro] = [falso.nueva(), falso.nueva()]
    for (let i = 0; i < 10; i++) expect((await enviar(token, {})).status).toBe(422)
    const respuesta = await enviar(token, {})
    expect([respuesta.status, respuesta.headers.get('retry-after')]).toEqual([429, '6'])
    expect(await respuesta.text()).toContain('en 6 segundos')
    expect((await enviar(otro, {})).status).toBe(422)
    expect((await fetch(`${url}/u/${token}`)).status).toBe(200)
    ahora += 6_000
    expect((await enviar(token, {})).status).toBe(422)
    for (let i = 0; i < 59; i++) await fetch(`${url}/u/${otro}`)
    expect((await fetch(`${url}/u/${otro}`)).status).toBe(200)
    expect((await fetch(`${url}/u/${otro}`)).status).toBe(429)
  })

  it('forget whom they have not seen for long', () => {
    const limite = crearLimite(1, () => 0, 2)
    expect(['a', 'a', 'b', 'c', 'a'].map(limite)).toEqual([0, 60, 0, 0, 0])
  })
})

describe.skipIf(!hayNavegador)('in a browser', () => {
  let contexto: BrowserContext
  let pagina: Page
  const quejas: string[] = []
  const pedidas: string[] = []

  afterEach(async () => {
    await contexto?.close()
    expect([...new Set(quejas)]).toEqual([])
    expect(pedidas.filter((una) => !una.startsWith(`${url}/`) && !una.startsWith(`${mosaico}/`))).toEqual([])
  })

  async function abrir(token: string, opciones: BrowserContextOptions = {}) {
    quejas.length = 0
    pedidas.length = 0
    contexto = await abrirContexto({
      viewport: { width: 360, height: 740 },
      deviceScaleFactor: 2,
      hasTouch: true,
      isMobile: true,
      ...opciones,
    })
    contexto.on('request', (solicitud) => pedidas.push(solicitud.url()))
    contexto.on('console', (mensaje) => {
      const ajeno = /ERR_INTERNET_DISCONNECTED|status of 4\d\d/.test(mensaje.text())
      if (['error', 'warning'].includes(mensaje.type()) && !ajeno) quejas.push(mensaje.text().slice(0, 300))
    })
    contexto.on('weberror', (error) => quejas.push(`uncaught: ${error.error().message}`))
    if (opciones.javaScriptEnabled !== false) {
      await contexto.exposeFunction('violada', (que: string) => quejas.push(`CSP: ${que}`))
      await contexto.addInitScript(`document.addEventListener('securitypolicyviolation', (e) =>
        window.violada(e.violatedDirective + ' ' + e.blockedURI.slice(0, 80)))`)
    }
    pagina = await contexto.newPage()
    await pagina.goto(`${url}/u/${token}`, { waitUntil: 'networkidle' })
  }

  /** Not Playwright's evaluate(), which the page's policy would report as an eval. */
  async function evaluar<T>(expression: string): Promise<T> {
    const sesion = await contexto.newCDPSession(pagina)
    const { result, exceptionDetails } = await sesion.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    await sesion.detach()
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value as T
  }

  /** In light and dark: no fault that axe can find, no target under 48 px, nothing wider than the phone; and its picture. */
  async function revisar(nombre: string) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await pagina.emulateMedia({ colorScheme })
      const fallas = await evaluar<string[]>(`(async () => { if (!window.axe) { ${axe.source} }
        const { violations } = await axe.run(document, { runOnly: { type: 'tag', values:
          ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] } })
        return violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 120) + ' ' + n.failureSummary).join(' | ')) })()`)
      expect(fallas, `${nombre}, ${colorScheme}`).toEqual([])
      await pagina.screenshot({ path: `/tmp/ubicacion-${nombre}-${colorScheme}.png`, fullPage: true })
    }
    await pagina.emulateMedia({ colorScheme: 'light' })
    const medidas = await evaluar<{ ancho: number; chicos: string[] }>(`({
      ancho: document.documentElement.scrollWidth,
      chicos: [...document.querySelectorAll('button, input:not([type=hidden]), textarea, summary, .errores a, dd a, .pin')]
        .filter((e) => e.getClientRects().length > 0)
        .filter((e) => { const { width, height } = e.getBoundingClientRect(); return width < 47.9 || height < 47.9 })
        .map((e) => e.outerHTML.slice(0, 100)) })`)
    expect(medidas.ancho).toBeLessThanOrEqual(360)
    expect(medidas.chicos).toEqual([])
  }

  const oculto = (nombre: string) => pagina.locator(`input[name=${nombre}]`).inputValue()
  const boton = (name: string | RegExp) => pagina.getByRole('button', { name })
  const enfocado = () => evaluar<string>('document.activeElement.id || document.activeElement.tagName')

  it('weighs little before anybody wants the map', COMPLETO, async () => {
    const token = falso.nueva()
    await abrir(token)
    const sesion = await contexto.newCDPSession(pagina)
    let bytes = 0
    sesion.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await sesion.send('Network.enable')
    await sesion.send('Network.setCacheDisabled', { cacheDisabled: true })
    await pagina.reload({ waitUntil: 'networkidle' })
    console.log(`the page with headers, gzip: ${bytes} bytes in ${new Set(pedidas).size} requests`)
    expect(bytes).toBeGreaterThan(4_000)
    expect(bytes).toBeLessThan(15_000)
    expect(pedidas.filter((una) => una.includes('/mapa.'))).toEqual([])
    await revisar('inicio')
    await pagina.setViewportSize({ width: 360, height: 1_600 }) // nothing to scroll, which would open it, too
    await boton('Ver el mapa').tap()
    await pagina.locator('.pin').waitFor()
    await pagina.waitForLoadState('networkidle')
    console.log(`with the map and its tiles: ${bytes} bytes`)
    expect(bytes).toBeLessThan(100_000)
  })

  it('takes the position the phone gives', async () => {
    const token = falso.nueva()
    await abrir(token, {
      permissions: ['geolocation'],
      geolocation: { latitude: 14.64, longitude: -90.61, accuracy: 12 },
    })
    await boton('Usar mi ubicación').tap()
    await pagina.getByText('precisión de unos 12 metros').first().waitFor()
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('portón verde, frente a la tienda')
    await revisar('gps')
    await boton('Confirmar').tap()
    await pagina.getByRole('heading', { name: '¡Gracias, María!' }).waitFor()
    expect(falso.confirmaciones).toEqual([
      {
        seguro: false,
        metodo: 'gps',
        lat: 14.64,
        lng: -90.61,
        precision_m: 12,
        referencia: 'portón verde, frente a la tienda',
      },
    ])
    expect(await enfocado()).toBe('H1')
    expect(await evaluar('sessionStorage.length')).toBe(0)
    await revisar('gracias')
    await pagina.reload()
    await pagina.getByRole('heading', { name: '¡Gracias, María!' }).waitFor()
  })

  it('warns of a position that is none, and prefers a better one', COMPLETO, async () => {
    await abrir(falso.nueva(), {
      permissions: ['geolocation'],
      geolocation: { latitude: 14.64, longitude: -90.61, accuracy: 1_450 },
    })
    await boton('Usar mi ubicación').tap()
    await pagina.getByText('Seguimos buscando').waitFor()
    await pagina.getByText('Es poco exacta').waitFor()
    await revisar('gps-impreciso')
    await boton('Usar mi ubicación').tap()
    await pagina.getByText('Seguimos buscando').waitFor()
    await contexto.setGeolocation({ latitude: 14.641, longitude: -90.611, accuracy: 18 })
    await pagina.getByText('precisión de unos 18 metros').first().waitFor()
    expect([await oculto('lat'), await oculto('precision_m')]).toEqual(['14.6410000', '18'])
  })

  it('explains what to do without permission', COMPLETO, async () => {
    await abrir(falso.nueva(), { permissions: [] })
    await boton('Usar mi ubicación').tap()
    await pagina.getByText('no nos dio permiso').waitFor()
    expect(await oculto('metodo')).toBe('')
    await revisar('gps-denegado')
  })

  it('shows a map when it is scrolled to, and takes the pin where it is put', COMPLETO, async () => {
    remitentes.length = 0
    await abrir(falso.nueva())
    expect(pedidas.some((una) => una.startsWith(mosaico))).toBe(false)
    await pagina.mouse.wheel(0, 400)
    await pagina.locator('.pin').waitFor()
    await pagina.waitForLoadState('networkidle')
    await pagina.getByText('El pin está en el centro de Mixco').waitFor()
    expect(await oculto('metodo')).toBe('')
    // A tap does what dragging does; but not the one that was meant for the button before the map.
    await pagina.waitForTimeout(700)
    await pagina.locator('#mapa').tap({ position: { x: 220, y: 220 } })
    await pagina.getByText(/El pin está a .* al sureste del centro de Mixco/).waitFor()
    const [lat, lng] = [Number(await oculto('lat')), Number(await oculto('lng'))]
    expect([await oculto('metodo'), lat < MIXCO.lat, lng > MIXCO.lng]).toEqual(['mapa', true, true])
    const caja = (await pagina.locator('.pin').boundingBox())!
    await pagina.mouse.move(caja.x + 24, caja.y + 24)
    await pagina.mouse.down()
    await pagina.mouse.move(caja.x + 24, caja.y - 60, { steps: 8 })
    await pagina.mouse.up()
    expect(Number(await oculto('lat'))).toBeGreaterThan(lat)
    // Zooming drops tiles that are on their way.
    for (const nombre of ['Acercar el mapa', 'Acercar el mapa', 'Alejar el mapa']) await boton(nombre).tap()
    await pagina.getByText('Mover el pin con botones').tap()
    const antes = Number(await oculto('lng'))
    await boton('Este →').tap()
    expect(Number(await oculto('lng'))).toBeGreaterThan(antes)
    await pagina.waitForTimeout(800)
    await revisar('mapa')
    expect(await pagina.getByText('© OpenStreetMap').count()).toBe(1)
    // OpenStreetMap wants to know the site. The token is none of its business.
    expect(new Set(remitentes)).toEqual(new Set([`${url}/`]))
    await boton('Confirmar').tap()
    await pagina.getByRole('heading', { name: /Gracias/ }).waitFor()
    expect(falso.confirmaciones[0]).toMatchObject({ metodo: 'mapa', seguro: false })
  })

  it('can be done with the keyboard alone', COMPLETO, async () => {
    await abrir(falso.nueva())
    const hasta = async (...cuales: string[]) => {
      for (let i = 0; i < 30 && !cuales.includes(await enfocado()); i++) await pagina.keyboard.press('Tab')
      expect(cuales).toContain(await enfocado())
    }
    // Reaching the button scrolls to it, and so opens the map: the focus is handed to the pin.
    await hasta('abrir-mapa', 'pin')
    await pagina.locator('.pin:focus').waitFor()
    for (const tecla of ['ArrowUp', 'ArrowUp', 'Shift+ArrowLeft', '+']) await pagina.keyboard.press(tecla)
    expect(Number(await oculto('lat'))).toBeGreaterThan(MIXCO.lat)
    expect(Number(await oculto('lng'))).toBeLessThan(MIXCO.lng)
    await pagina.getByText(/al noroeste|al oeste/).waitFor()
    await pagina.screenshot({ path: '/tmp/ubicacion-teclado.png' })
    await hasta('referencia')
    await pagina.keyboard.type('casa de dos pisos')
    await pagina.keyboard.press('Tab')
    await pagina.keyboard.press('Enter')
    await pagina.getByRole('heading', { name: /Gracias/ }).waitFor()
    expect(falso.confirmaciones[0]).toMatchObject({ metodo: 'mapa', referencia: 'casa de dos pisos' })
  })

  it('works without JavaScript', COMPLETO, async () => {
    falso.responder(({ enlace }) =>
      enlace?.includes('goo.gl')
        ? undefined
        : { ok: false, motivo: 'enlace_invalido', mensaje: 'Ese enlace no es de un mapa.' },
    )
    await abrir(falso.nueva(), { javaScriptEnabled: false })
    expect(await boton('Usar mi ubicación').count()).toBe(0)
    await pagina.screenshot({ path: '/tmp/ubicacion-sin-js.png', fullPage: true })
    await pagina.getByLabel('Enlace del mapa').fill('https://example.com/x')
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('portón verde')
    await boton('Confirmar').tap()
    await pagina.getByRole('alert').getByText('Ese enlace no es de un mapa.').waitFor()
    expect(await enfocado()).toBe('errores')
    expect(await pagina.getByLabel('Enlace del mapa').inputValue()).toBe('https://example.com/x')
    expect(await pagina.getByLabel('¿Cómo reconocemos el lugar?').inputValue()).toBe('portón verde')
    await pagina.screenshot({ path: '/tmp/ubicacion-sin-js-error.png', fullPage: true })
    await pagina.getByLabel('Enlace del mapa').fill('https://maps.app.goo.gl/abc')
    await boton('Confirmar').tap()
    await pagina.getByRole('heading', { name: /Gracias/ }).waitFor()
    expect(falso.confirmaciones.at(-1)).toEqual({
      seguro: false,
      metodo: 'enlace',
      enlace: 'https://maps.app.goo.gl/abc',
      referencia: 'portón verde',
    })
  })

  it('says what is missing, at the place where the eye is', COMPLETO, async () => {
    await abrir(falso.nueva())
    await boton('Confirmar').tap()
    await pagina.getByRole('alert').waitFor()
    expect(await enfocado()).toBe('errores')
    expect(falso.confirmaciones).toEqual([])
    await revisar('falta-lugar')
    falso.responder(() => ({ ok: false, motivo: 'enlace_invalido', mensaje: 'Ese enlace no es de un mapa.' }))
    await pagina.getByText('Pegar un enlace de mapa').tap()
    await pagina.getByLabel('Enlace del mapa').fill('https://example.com/')
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('portón verde')
    await boton('Confirmar').tap()
    await pagina.getByRole('link', { name: 'Ese enlace no es de un mapa.' }).waitFor()
    expect(await enfocado()).toBe('errores')
    expect(await pagina.getByLabel('¿Cómo reconocemos el lugar?').inputValue()).toBe('portón verde')
    await revisar('enlace-invalido')
  })

  it('keeps what was filled in when there is no network, and sends it when there is', COMPLETO, async () => {
    await abrir(falso.nueva(), {
      permissions: ['geolocation'],
      geolocation: { latitude: 14.64, longitude: -90.61, accuracy: 9 },
    })
    await boton('Usar mi ubicación').tap()
    await pagina.getByText('precisión de unos 9 metros').first().waitFor()
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('portón verde')
    await contexto.setOffline(true)
    await boton('Confirmar').tap()
    await pagina.getByText('No hay señal').waitFor()
    await revisar('sin-red')
    expect(falso.confirmaciones).toEqual([])
    expect(await pagina.getByLabel('¿Cómo reconocemos el lugar?').inputValue()).toBe('portón verde')
    await contexto.setOffline(false)
    await pagina.getByRole('heading', { name: '¡Gracias, María!' }).waitFor()
    expect(falso.confirmaciones).toHaveLength(1)
    expect(falso.confirmaciones[0]).toMatchObject({ lat: 14.64, referencia: 'portón verde' })
  })

  it('remembers what was filled in when Android drops the page', COMPLETO, async () => {
    await abrir(falso.nueva())
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('portón verde')
    await pagina.getByText('Pegar un enlace de mapa').tap()
    await pagina.getByLabel('Enlace del mapa').fill('https://maps.app.goo.gl/abc')
    await pagina.reload()
    expect(await pagina.getByLabel('¿Cómo reconocemos el lugar?').inputValue()).toBe('portón verde')
    expect(await pagina.getByLabel('Enlace del mapa').inputValue()).toBe('https://maps.app.goo.gl/abc')
    await pagina.getByText('Lugar elegido: el enlace que pegó.').waitFor()
  })

  it('asks about a place far away', COMPLETO, async () => {
    falso.responder(({ seguro }) => (seguro ? undefined : { ok: false, motivo: 'lejos', distancia_km: 171.6 }))
    await abrir(falso.nueva(), {
      permissions: ['geolocation'],
      geolocation: { latitude: 15.7, longitude: -88.6, accuracy: 9 },
    })
    await boton('Usar mi ubicación').tap()
    await pagina.getByText('precisión de unos 9 metros').first().waitFor()
    await pagina.getByLabel('¿Cómo reconocemos el lugar?').fill('frente al muelle')
    await boton('Confirmar').tap()
    await pagina.getByRole('heading', { name: '¿Seguro que es ahí?' }).waitFor()
    await revisar('lejos')
    await boton(/No, quiero/).tap()
    expect(await pagina.getByLabel('¿Cómo reconocemos el lugar?').inputValue()).toBe('frente al muelle')
    await pagina.getByText('Lugar elegido: su ubicación').waitFor()
    await boton('Confirmar').tap()
    await boton(/^Sí/).tap()
    await pagina.getByRole('heading', { name: '¡Gracias, María!' }).waitFor()
    expect(falso.confirmaciones.map(({ seguro }) => seguro)).toEqual([false, false, true])
  })

  it.each(['vencida', 'cerrada', 'desconocida'] as const)(
    'is readable when the request is %s',
    COMPLETO,
    async (estado) => {
      await abrir(estado === 'desconocida' ? 'desconocido0000000000A' : falso.nueva({ estado }))
      await revisar(estado)
    },
  )

  it('survives long names and a wide screen', COMPLETO, async () => {
    const token = falso.nueva({
      comercio: 'Comercializadora Centroamericana de Electrodomésticos, S. A.',
      destinatario: 'Maximilianoooooooooooooooooooooooooooooooooooooo',
      direccion: `${'Kilómetro 14.5 carretera a El Salvador, condominio Las Luces, casa 12, '.repeat(2)}`,
      municipio: 'San Miguel Ixtahuacán',
      departamento: 'San Marcos',
      centro: null,
    })
    await abrir(token)
    await revisar('largo')
    await pagina.setViewportSize({ width: 1280, height: 800 })
    await pagina.screenshot({ path: '/tmp/ubicacion-ancho.png' })
    // 400 % zoom of a phone.
    await pagina.setViewportSize({ width: 320, height: 256 })
    expect(await evaluar<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
  })
})
