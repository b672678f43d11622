import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { barrasDe, qrDe } from '../../server/pdf/codigos.ts'
import { crearReloj } from '../../server/tiempo/reloj.ts'
import { enRuta, unaFoto } from '../archivos/imagenes.ts'
import { type Comercio, compartirEntorno } from '../entorno.ts'
import { COMPLETO, hasta, sinDestino, unaGuia } from '../fabricas.ts'
import { abrirContexto, abrirNavegador, hayNavegador } from '../navegador.ts'
import { crearPuente, type Puente } from './puente.ts'

const entorno = compartirEntorno()
let comercio: Comercio
let puente: Puente

beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  puente = await crearPuente(() => entorno.url)
})
afterAll(() => puente?.cerrar())

const enGrupos = (guia: string) => guia.replace(/(.{4})(?=.)/g, '$1-')
const nuevoRepartidor = async (nombre = 'Carlos Méndez') =>
  (await entorno.operar('POST', '/repartidores', { nombre })).cuerpo as { repartidor: string; codigo: string }

interface Evento {
  tipo: string
  estado: string
  motivo: string | null
  descripcion: string
  ocurrido_en: string
}
const eventosDe = async (guia: string): Promise<Evento[]> =>
  (await entorno.operar('GET', `/guias/${guia}`)).cuerpo.eventos.datos
const tiposDe = async (guia: string) => (await eventosDe(guia)).map(({ tipo }) => tipo.replace('guia.', ''))
const registrar = (guia: string, cuerpo: object) => entorno.operar('POST', `/guias/${guia}/eventos`, cuerpo)
const pruebaDe = (guia: string) =>
  entorno.pedir('GET', `/api/v1/guias/${guia}/prueba-entrega`, { llave: comercio.llave })

describe('what the service answers', () => {
  const leer = (ruta: string, metodo = 'GET') => fetch(entorno.url + ruta, { method: metodo, redirect: 'manual' })

  it('is the same page for everybody, strict, and alone with camera and position', async () => {
    const respuesta = await leer('/repartidor')
    expect(respuesta.status).toBe(200)
    const html = await respuesta.text()
    expect(html).not.toMatch(/<style|style="|<script(?![^>]*\bsrc=)| on\w+="|https?:/)
    expect(Object.fromEntries(respuesta.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'permissions-policy': 'camera=(self), geolocation=(self), microphone=()',
      'content-security-policy':
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    })
    expect(respuesta.headers.get('set-cookie')).toBeNull()
    const recursos = [...html.matchAll(/"(repartidor\/recursos\/[^"]+)"/g)].map(([, ruta]) => `/${ruta}`)
    expect(recursos.length).toBeGreaterThanOrEqual(6)
    for (const ruta of recursos) {
      const recurso = await leer(ruta)
      expect([ruta, recurso.status]).toEqual([ruta, 200])
      expect(recurso.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect((await recurso.arrayBuffer()).byteLength).toBeGreaterThan(100)
    }
  })

  it('says where the page is to whoever adds a slash, and knows no other method', async () => {
    const otra = await leer('/repartidor/')
    expect([otra.status, otra.headers.get('location')]).toEqual([308, '../repartidor'])
    for (const metodo of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const respuesta = await leer('/repartidor', metodo)
      expect([respuesta.status, respuesta.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    }
    expect((await leer('/repartidor/otra')).status).toBe(404)
    expect((await leer('/repartidor/recursos/otra.js')).status).toBe(404)
  })

  it('has a service worker for the page itself, which may talk to the service alone', async () => {
    const respuesta = await leer('/repartidor/servicio.js')
    expect(respuesta.headers.get('service-worker-allowed')).toBe('../repartidor')
    expect(respuesta.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    )
    expect(respuesta.headers.get('cache-control')).toBe('no-store')
    const { cuerpo: manifiesto } = await entorno.pedir('GET', '/repartidor/manifiesto.webmanifest')
    expect(manifiesto).toMatchObject({ lang: 'es', display: 'standalone', start_url: '../repartidor' })
    for (const { src, sizes } of manifiesto.icons) {
      const { width, height } = await sharp(await (await leer(`/repartidor/${src}`)).arrayBuffer()).metadata()
      expect(`${width}x${height}`).toBe(sizes)
    }
  })
})

/** What a label shows to a camera, bars or a QR, in grey: drawn by hand, since the service bars sharp from other formats. */
function dibujo(que: { barras?: string; qr?: string }, ancho = 640, alto = 480) {
  const grises = Buffer.alloc(ancho * alto, 0xee)
  const rectangulo = (x: number, y: number, w: number, h: number) => {
    for (let fila = y; fila < y + h; fila++) grises.fill(0, fila * ancho + x, fila * ancho + x + w)
  }
  if (que.barras) {
    const anchos = barrasDe(que.barras)!
    const modulos = anchos.reduce((a, b) => a + b)
    const modulo = Math.floor((ancho - 40) / modulos)
    let x = Math.floor((ancho - modulo * modulos) / 2)
    for (const [i, n] of anchos.entries()) {
      if (i % 2 === 0) rectangulo(x, 140, n * modulo, 180)
      x += n * modulo
    }
  }
  if (que.qr) {
    const { lado, modulos } = qrDe(que.qr)!
    const modulo = Math.floor((alto - 120) / lado)
    for (let i = 0; i < lado * lado; i++) {
      if (modulos[i]) rectangulo(60 + (i % lado) * modulo, 60 + Math.floor(i / lado) * modulo, modulo, modulo)
    }
  }
  return { grises, ancho, alto }
}
type Dibujo = ReturnType<typeof dibujo>

/** A film of one picture, as Chromium's false camera plays it. */
function pelicula({ grises, ancho, alto }: Dibujo): Buffer {
  const cuadro = Buffer.concat([Buffer.from('FRAME\n'), grises, Buffer.alloc((ancho * alto) / 2, 128)])
  return Buffer.concat([Buffer.from(`YUV4MPEG2 W${ancho} H${alto} F5:1 Ip A1:1 C420jpeg\n`), cuadro, cuadro])
}

describe.skipIf(!hayNavegador)('in a browser', () => {
  let carpeta: string
  let navegador: Browser
  let contexto: BrowserContext
  let pagina: Page
  /** The guide whose label the camera sees. */
  let enCamara: string
  const quejas: string[] = []
  const pedidas: string[] = []

  beforeAll(async () => {
    carpeta = await mkdtemp(join(tmpdir(), 'guias-repartidor-'))
    enCamara = (await comercio.api.guias.crear(unaGuia({ destinatario: 'Ana Etiqueta' }))).guia
    await writeFile(join(carpeta, 'etiqueta.y4m'), pelicula(dibujo({ barras: enCamara })))
    navegador = await abrirNavegador(
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-video-capture=${join(carpeta, 'etiqueta.y4m')}`,
    )
  })
  afterAll(async () => {
    await navegador?.close()
    await rm(carpeta, { recursive: true, force: true })
  })
  afterEach(async () => {
    await contexto?.close()
    puente.sanar()
    expect([...new Set(quejas)]).toEqual([])
    expect(pedidas.filter((una) => !una.startsWith(`${puente.url}/`) && !una.startsWith('blob:'))).toEqual([])
  })

  async function abrir(opciones: BrowserContextOptions & { alEmpezar?: string } = {}) {
    quejas.length = 0
    pedidas.length = 0
    puente.pasados.length = 0
    const { alEmpezar, ...deContexto } = opciones
    const telefono: BrowserContextOptions = {
      viewport: { width: 360, height: 740 },
      deviceScaleFactor: 2,
      hasTouch: true,
      isMobile: true,
      permissions: ['camera', 'geolocation'],
      geolocation: { latitude: 14.7189, longitude: -90.6442, accuracy: 8 },
    }
    contexto = await abrirContexto({ ...telefono, ...deContexto }, navegador)
    contexto.on('request', (solicitud) => pedidas.push(solicitud.url()))
    contexto.on('console', (mensaje) => {
      // What a browser writes of answers and connections that the page deals with.
      const esperado =
        /ERR_INTERNET_DISCONNECTED|ERR_EMPTY_RESPONSE|ERR_CONNECTION|status of [45]\d\d|willReadFrequently/.test(
          mensaje.text(),
        )
      if (['error', 'warning'].includes(mensaje.type()) && !esperado) quejas.push(mensaje.text().slice(0, 300))
    })
    contexto.on('weberror', (error) => quejas.push(`uncaught: ${error.error().message}`))
    await contexto.exposeFunction('violada', (que: string) => quejas.push(`CSP: ${que}`))
    await contexto.addInitScript(`document.addEventListener('securitypolicyviolation', (e) =>
      window.violada(e.violatedDirective + ' ' + e.blockedURI.slice(0, 80)))`)
    if (alEmpezar) await contexto.addInitScript(alEmpezar)
    pagina = await contexto.newPage()
    await pagina.goto(`${puente.url}/repartidor`)
  }

  /** Not Playwright's evaluate(), which the page's policy would report as an eval. */
  async function evaluar<T>(expression: string, en = pagina): Promise<T> {
    const sesion = await contexto.newCDPSession(en)
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
      await pagina.screenshot({ path: `/tmp/repartidor-${nombre}-${colorScheme}.png`, fullPage: true })
    }
    await pagina.emulateMedia({ colorScheme: 'light' })
    const medidas = await evaluar<{ ancho: number; chicos: string[] }>(`({
      ancho: document.documentElement.scrollWidth,
      chicos: [...document.querySelectorAll('a, button, input:not(.oculta, [type=radio], [type=checkbox]), select, textarea, .opcion, summary')]
        .filter((e) => e.getClientRects().length > 0)
        .filter((e) => { const { width, height } = e.getBoundingClientRect(); return width < 47.9 || height < 47.9 })
        .map((e) => e.outerHTML.slice(0, 100)) })`)
    expect(medidas.ancho).toBeLessThanOrEqual(360)
    expect(medidas.chicos).toEqual([])
  }

  const boton = (name: string | RegExp) => pagina.getByRole('button', { name })
  const enlace = (name: string) => pagina.getByRole('link', { name, exact: true })
  const titulo = (name: string | RegExp) => pagina.getByRole('heading', { name, level: 1 })
  async function entrar(codigo: string) {
    await pagina.getByLabel('Su código de repartidor').fill(codigo)
    await boton('Entrar').tap()
    await titulo(/^Hola/).waitFor()
  }
  async function abrirGuia(guia: string) {
    await pagina.goto(`${puente.url}/repartidor#/guia/${guia}`)
    await titulo(enGrupos(guia)).waitFor()
  }
  const inicio = () => pagina.goto(`${puente.url}/repartidor#/`)
  const instalado = () => evaluar('navigator.serviceWorker.ready.then(() => caches.keys())')
  async function fallarIntento(guia: string, motivo = 'No había nadie') {
    await abrirGuia(guia)
    await enlace('No se pudo entregar').tap()
    await pagina.getByLabel(motivo).check()
    await boton('Registrar').tap()
    await pagina.getByText('Intento fallido').first().waitFor()
  }
  async function dar(guia: string, paso: string) {
    await abrirGuia(guia)
    await enlace(paso).tap()
    await boton('Registrar').tap()
    await titulo(enGrupos(guia)).waitFor()
  }
  /** Without waiting for the next try; it may all have gone by itself. */
  const enviarYa = () =>
    boton('Enviar ahora')
      .tap({ timeout: 500 })
      .catch(() => {})
  const foto = async (color?: string) => ({
    name: 'foto.jpg',
    mimeType: 'image/jpeg',
    buffer: await unaFoto(color ? { color } : {}),
  })
  async function llenarEntrega(guia: string, { nombre = 'María López', fotos = 1, firmar = false } = {}) {
    await abrirGuia(guia)
    await enlace('Entregar').tap()
    await titulo('Entregar').waitFor()
    for (let i = 1; i <= fotos; i++) {
      await pagina.locator('input[type=file]').setInputFiles(await foto())
      await pagina.getByAltText(`Foto ${i}`, { exact: true }).waitFor()
    }
    await pagina.getByLabel('Nombre').fill(nombre)
    if (firmar) await firma()
  }
  async function firma() {
    const lienzo = pagina.locator('canvas.firma')
    await lienzo.scrollIntoViewIfNeeded()
    const { x, y, width, height } = (await lienzo.boundingBox())!
    for (const desde of [0.2, 0.5]) {
      await pagina.mouse.move(x + width * desde, y + height * 0.3)
      await pagina.mouse.down()
      for (let i = 1; i <= 12; i++) {
        await pagina.mouse.move(x + width * (desde + i / 50), y + height * (0.3 + (i % 4) / 8))
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      await pagina.mouse.up()
    }
  }
  const oscuros = () =>
    evaluar<number>(`(() => { const c = document.querySelector('canvas.firma')
      const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data
      let n = 0; for (let i = 0; i < d.length; i += 4) if (d[i] < 128) n++; return n / (d.length / 4) })()`)
  const cerca = (instante: string, momento: number) =>
    expect(Math.abs(Date.parse(instante) - momento)).toBeLessThan(3_000)

  it('lets a courier in with his code, and out again', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    await abrir()
    await pagina.getByLabel('Su código').waitFor()
    await revisar('entrar')
    await boton('Entrar').tap()
    await pagina.getByText('Escriba el código').waitFor()
    await pagina.getByLabel('Su código').fill('AAAAA-AAAAA')
    await boton('Entrar').tap()
    await pagina.getByText('Ese código no es válido').waitFor()
    // As a thumb types it.
    await entrar(codigo.toLowerCase().replace('-', ' '))
    await titulo('Hola, Carlos').waitFor()
    await revisar('vacio')
    const [galleta] = await contexto.cookies()
    expect(galleta).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/repartidor' })
    await pagina.reload()
    await titulo('Hola, Carlos').waitFor()
    await boton('Salir').tap()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    expect(await contexto.cookies()).toEqual([])
  })

  it('weighs little, can be installed, and asks nobody else for anything', COMPLETO, async () => {
    await abrir()
    await instalado()
    const sesion = await contexto.newCDPSession(pagina)
    const { installabilityErrors } = await sesion.send('Page.getInstallabilityErrors')
    // A private window cannot install: it is the only thing Chromium has against it.
    expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual([])
    const { errors } = await sesion.send('Page.getAppManifest')
    expect(errors).toEqual([])
    let bytes = 0
    sesion.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await sesion.send('Network.enable')
    await sesion.send('Network.setBypassServiceWorker', { bypass: true })
    await sesion.send('Network.setCacheDisabled', { cacheDisabled: true })
    await pagina.reload({ waitUntil: 'networkidle' })
    console.log(`the courier's page with headers: ${bytes} bytes`)
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(40_000)
  })

  it('opens a guide that is typed, and offers what may be done to it alone', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const { guia } = await comercio.api.guias.crear(
      unaGuia({ destinatario: 'María José Ajú', direccion: '5a avenida norte 12', indicaciones: 'Portón verde' }),
    )
    for (const estado of ['recolectado', 'en_ruta']) await registrar(guia, { estado })
    await abrir()
    await entrar(codigo)
    const campo = pagina.getByLabel('O escriba la guía')
    await campo.fill(guia.slice(0, 11))
    await boton('Abrir').tap()
    await pagina.getByText('aquí hay 11').waitFor()
    await campo.fill(guia.slice(0, 11) + (guia.endsWith('7') ? '8' : '7'))
    await boton('Abrir').tap()
    await pagina.getByText('alguna letra está cambiada').waitFor()
    await campo.fill(enGrupos(guia).toLowerCase().replace(/0/g, 'o').replace(/1/g, 'l'))
    await campo.press('Enter')
    await titulo(enGrupos(guia)).waitFor()
    await pagina.getByText('María José Ajú').waitFor()
    await pagina.getByText('5a avenida norte 12, San Juan Sacatepéquez, Guatemala').waitFor()
    expect(await enlace('Llamar').getAttribute('href')).toBe('tel:+50231481676')
    expect(await enlace('Cómo llegar').getAttribute('href')).toContain('destination=14.71889%2C-90.64417')
    expect(await enlace('Waze').getAttribute('href')).toContain('ll=14.71889%2C-90.64417')
    expect(await pagina.locator('.pasos a').allTextContents()).toEqual([
      'Entregar',
      'No se pudo entregar',
      'Dejar en bodega',
      'Empezar la devolución',
      'Reportar extravío',
      'Anotar algo',
    ])
    await revisar('guia')
  })

  it('keeps a failed attempt with its reason, and notes', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir()
    await entrar(codigo)
    await abrirGuia(guia)
    await enlace('No se pudo entregar').tap()
    await boton('Registrar').tap()
    await pagina.getByText('Elija el motivo.').waitFor()
    await revisar('intento')
    await pagina.getByLabel('Otro motivo').check()
    await boton('Registrar').tap()
    await pagina.getByText('Escriba en la nota qué pasó.').waitFor()
    await pagina.getByLabel('Nota').fill('Hay un perro\nbravo')
    await boton('Registrar').tap()
    await pagina.getByText('Intento fallido').waitFor()
    await enlace('Anotar algo').tap()
    await pagina.getByLabel('Nota').fill('Que llamen antes')
    await boton('Guardar la nota').tap()
    await hasta(async () => (await tiposDe(guia)).includes('nota'))
    expect((await eventosDe(guia)).slice(-2)).toMatchObject([
      { tipo: 'guia.intento_fallido', motivo: 'otro', descripcion: 'Hay un perro bravo' },
      { tipo: 'guia.nota', descripcion: 'Que llamen antes' },
    ])
    // The place was known, because it had been allowed.
    expect((await entorno.operar('GET', `/guias/${guia}`)).cuerpo.estado).toBe('intento_fallido')
  })

  it('tells times by the clock of the destination, named where the phone’s shows another hour', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir({ timezoneId: 'America/Bogota' })
    await entrar(codigo)
    await fallarIntento(guia)
    await hasta(async () => (await tiposDe(guia)).includes('intento_fallido'))
    const { hora } = crearReloj('America/Guatemala')
    const suya = hora((await eventosDe(guia)).at(-1)!.ocurrido_en)
    await inicio()
    await pagina.getByText('Enviado hoy (1)').tap()
    await pagina.getByText(`${suya} (hora de Guatemala)`).tap()
    await pagina.getByText(`, a las ${suya} (hora de Guatemala).`).waitFor()
  })

  it(
    'sends the photos of a failed attempt with it, also without coverage and when the service swept them',
    COMPLETO,
    async () => {
      const { codigo } = await nuevoRepartidor()
      const guia = await enRuta(entorno, comercio)
      await abrir()
      await entrar(codigo)
      await abrirGuia(guia)
      await enlace('No se pudo entregar').waitFor()
      await instalado()
      await contexto.setOffline(true)
      await enlace('No se pudo entregar').tap()
      await pagina.getByLabel('No había nadie').check()
      for (const [i, color] of ['#36c', '#c63', '#3c6'].entries()) {
        await pagina.locator('input[type=file]').setInputFiles(await foto(color))
        await pagina.getByAltText(`Foto ${i + 1}`, { exact: true }).waitFor()
      }
      await boton('Quitar la foto 2').tap()
      await revisar('intento-con-fotos')
      await boton('Registrar').tap()
      await pagina.getByText('Intento fallido (por enviar)').waitFor()
      await pagina.reload()
      await pagina.getByText('Intento fallido (por enviar)').waitFor()
      // Its first photo arrives and is gone before the event gets there.
      puente.cortar(/POST .*\/eventos$/)
      await contexto.setOffline(false)
      await hasta(async () => puente.pasados.filter((que) => que.includes('tipo=foto')).length === 2)
      await entorno.db.pool.query('delete from archivo where tipo = $1 and usado_en is null', ['foto'])
      await inicio()
      await enviarYa()
      await pagina.getByText('Enviado hoy (1)').waitFor({ timeout: 20_000 })
      const { datos } = await comercio.api.guias.intentos(guia)
      expect(datos).toMatchObject([{ numero_intento: 1, motivo: 'destinatario_ausente' }])
      expect(datos[0]!.fotos.map(({ ancho }) => ancho)).toEqual([640, 640])
      expect(puente.pasados.filter((que) => que.includes('tipo=foto'))).toHaveLength(4)
      expect(await tiposDe(guia)).toEqual(['aceptado', 'recolectado', 'en_ruta', 'intento_fallido'])
    },
  )

  it('does not let a parcel out whose place nobody confirmed', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const { guia } = await comercio.api.guias.crear(sinDestino())
    await registrar(guia, { estado: 'recolectado' })
    await abrir()
    await entrar(codigo)
    await abrirGuia(guia)
    await pagina.getByText('falta que se confirme el lugar').waitFor()
    expect(await enlace('Salir a ruta').count()).toBe(0)
    expect(await enlace('Dejar en bodega').count()).toBe(1)
  })

  it('reads bars with the camera and a QR from a photo, without a reader of the browser', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    // The camera sees the label at once: what is to be done before that has to hold it back.
    await abrir({
      alEmpezar: `window.camara = Promise.resolve()
        const dispositivos = navigator.mediaDevices // none on an empty page
        const pedir = dispositivos?.getUserMedia.bind(dispositivos)
        if (dispositivos) dispositivos.getUserMedia = async (que) => { await window.camara; return pedir(que) }`,
    })
    await instalado()
    expect(pedidas.filter((una) => una.includes('lector.'))).toEqual([])
    await entrar(codigo)
    expect(await evaluar('typeof BarcodeDetector')).toBe('undefined')
    await enlace('Escanear').tap()
    await titulo(enGrupos(enCamara)).waitFor()
    await pagina.getByText('Ana Etiqueta').waitFor()
    await inicio()
    await evaluar('void (window.camara = new Promise((soltar) => { window.soltar = soltar }))')
    await enlace('Escanear').tap()
    await pagina.getByLabel('Cargar varias').check()
    await evaluar('window.soltar()')
    await pagina.getByText('1 guía').waitFor()
    await revisar('escanear')
    // It is before the camera still: a moment later the box is gone.
    await pagina.getByLabel('Cargar varias').tap()
    await titulo(enGrupos(enCamara)).waitFor()
    const { guia } = await comercio.api.guias.crear(unaGuia({ destinatario: 'Beto Cuadro' }))
    await inicio()
    await contexto.clearPermissions()
    await contexto.grantPermissions(['geolocation'])
    await enlace('Escanear').tap()
    await pagina.getByText('Sin permiso para usar la cámara').waitFor()
    const png = ({ grises, ancho, alto }: Dibujo) =>
      sharp(grises, { raw: { width: ancho, height: alto, channels: 1 } })
        .png()
        .toBuffer()
    const entrada = pagina.locator('input[type=file]')
    await entrada.setInputFiles({ name: 'a.jpg', mimeType: 'image/jpeg', buffer: await unaFoto() })
    await pagina.getByText('No se ve ningún código').waitFor()
    const ajeno = await png(dibujo({ qr: 'https://example.com/menu' }))
    await entrada.setInputFiles({ name: 'b.png', mimeType: 'image/png', buffer: ajeno })
    await pagina.getByText('Ese código no es de una guía').waitFor()
    const propio = await png(dibujo({ qr: `https://guias.example.com/r/${guia}` }))
    await entrada.setInputFiles({ name: 'c.png', mimeType: 'image/png', buffer: propio })
    await pagina.getByText('Beto Cuadro').waitFor()
  })

  it('uses the browser’s own reader where there is one', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    await abrir({
      alEmpezar: `window.BarcodeDetector = class { static async getSupportedFormats() { return ['code_128', 'qr_code'] }
        async detect(video) { return video.videoWidth > 0 ? [{ rawValue: '${enCamara}' }] : [] } }`,
    })
    await entrar(codigo)
    await enlace('Escanear').tap()
    await titulo(enGrupos(enCamara)).waitFor()
    expect(puente.pasados.some((una) => una.includes('lector.'))).toBe(false)
  })

  it('delivers with photos, a signature and the place', async () => {
    const { codigo } = await nuevoRepartidor()
    const { guia } = await comercio.api.guias.crear(unaGuia({ destinatario: 'María López' }))
    for (const estado of ['recolectado', 'en_ruta']) await registrar(guia, { estado })
    await abrir()
    await entrar(codigo)
    await abrirGuia(guia)
    await enlace('Entregar').tap()
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Tome una foto por lo menos.').waitFor()
    await pagina.getByText('Escriba quién recibió.').waitFor()
    const entrada = pagina.locator('input[type=file]')
    const grande = await sharp({ create: { width: 4_000, height: 3_000, channels: 3, background: '#3a6' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    await entrada.setInputFiles({ name: 'grande.jpg', mimeType: 'image/jpeg', buffer: grande })
    await pagina.getByAltText('Foto 1').waitFor()
    await entrada.setInputFiles(await foto('#36c'))
    await pagina.getByAltText('Foto 2').waitFor()
    await entrada.setInputFiles(await foto('#c63'))
    await pagina.getByAltText('Foto 3').waitFor()
    await boton('Quitar la foto 2').tap()
    expect(await pagina.locator('.fotos img').count()).toBe(2)
    await boton('María López').tap()
    await expect.poll(() => pagina.getByLabel('Quién es').inputValue()).toBe('destinatario')
    await pagina.getByLabel('Documento').fill('2456 78901 0101')
    await firma()
    const tinta = await oscuros()
    expect(tinta).toBeGreaterThan(0.002)
    await boton('Deshacer').tap()
    expect(await oscuros()).toBeLessThan(tinta)
    await firma()
    await pagina.getByText('precisión de unos 8 m').waitFor()
    await revisar('entregar')
    // Turned: nothing of it is lost.
    const antes = await oscuros()
    await pagina.setViewportSize({ width: 740, height: 360 })
    await expect.poll(() => evaluar('document.querySelector("canvas.firma").clientWidth')).toBeGreaterThan(500)
    await expect.poll(async () => Math.abs((await oscuros()) - antes) / antes).toBeLessThan(0.35)
    await pagina.setViewportSize({ width: 360, height: 740 })
    // The camera's own app pushed the page out of memory.
    await pagina.reload()
    await pagina.getByAltText('Foto 2').waitFor()
    expect(await pagina.getByLabel('Nombre').inputValue()).toBe('María López')
    expect(await oscuros()).toBeGreaterThan(0.002)
    await pagina.getByText('precisión de unos 8 m').waitFor()
    const momento = Date.now()
    await boton('Confirmar la entrega').tap()
    await titulo(enGrupos(guia)).waitFor()
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    const { cuerpo } = await pruebaDe(guia)
    expect(cuerpo).toMatchObject({
      recibido_por: { nombre: 'María López', documento: '2456 78901 0101', relacion: 'destinatario' },
      lat: 14.7189,
      lng: -90.6442,
      precision_m: 8,
    })
    cerca(cuerpo.entregado_en, momento)
    // Upright, and no larger than has to be sent.
    expect(cuerpo.fotos.map(({ ancho, alto }: { ancho: number; alto: number }) => [ancho, alto])).toEqual([
      [1_920, 2_560],
      [640, 480],
    ])
    const firmada = await sharp(
      await (await fetch(cuerpo.firma.url.replace(/^https?:\/\/[^/]+/, entorno.url))).arrayBuffer(),
    )
      .greyscale()
      .stats()
    expect(firmada.channels[0]!.min).toBeLessThan(100)
    await pagina.getByText('Entregado').waitFor()
    // Nothing of the person is left on the phone.
    await expect.poll(() => enElTelefono()).not.toMatch(/María|2456|\+502/)
    expect(
      await evaluar(
        'new Promise((r) => { const o = indexedDB.open("repartidor"); o.onsuccess = () => { const q = o.result.transaction("imagenes").objectStore("imagenes").count(); q.onsuccess = () => r(q.result) } })',
      ),
    ).toBe(0)
  })

  /** Everything that lies in the database of the page, as text. */
  const enElTelefono = () =>
    evaluar<string>(`new Promise((resolver) => { const abierta = indexedDB.open('repartidor')
      abierta.onsuccess = async () => { const db = abierta.result
        const todo = await Promise.all([...db.objectStoreNames].map((a) => new Promise((r) => {
          const q = db.transaction(a).objectStore(a).getAll(); q.onsuccess = () => r([a, q.result]) })))
        db.close(); resolver(JSON.stringify(todo)) } })`)

  it('delivers without a place where the phone may not tell it', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir({ permissions: [] })
    await entrar(codigo)
    await llenarEntrega(guia)
    await pagina.getByText('Sin permiso para ver dónde está').waitFor()
    await boton('Confirmar la entrega').tap()
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    expect((await pruebaDe(guia)).cuerpo).toMatchObject({ lat: null, lng: null, firma: null })
  })

  it('works without coverage: everything arrives once, in order, with its own time', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const [una, otra, sinDatos] = [
      await enRuta(entorno, comercio),
      await enRuta(entorno, comercio),
      await enRuta(entorno, comercio),
    ]
    await abrir()
    await entrar(codigo)
    for (const guia of [una, otra]) {
      await abrirGuia(guia)
      await enlace('Entregar').waitFor()
    }
    await instalado()
    await contexto.setOffline(true)
    await inicio()
    await pagina.reload()
    await pagina.getByText('Sin cobertura.').waitFor()

    const primero = Date.now()
    await fallarIntento(una)
    await pagina.getByText('(por enviar)').waitFor()
    // What is offered follows from what is still to be sent.
    expect((await pagina.locator('.pasos a').allTextContents())[0]).toBe('Salir a ruta')
    await dar(una, 'Salir a ruta')
    await pagina.getByText('En ruta (por enviar)').waitFor()
    await llenarEntrega(una, { fotos: 2, firmar: true })
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    const entregado = Date.now()
    await pagina.reload()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    await fallarIntento(otra, 'No contesta')
    // One of which nothing is known but its code.
    await inicio()
    await pagina.getByLabel('O escriba la guía').fill(sinDatos)
    await boton('Abrir').tap()
    await pagina.getByText('Sin cobertura no se ve el destino').waitFor()
    await revisar('sin-datos')
    await fallarIntento(sinDatos)
    await inicio()
    await pagina.getByRole('heading', { name: 'Por enviar (5)' }).waitFor()
    await pagina.getByText('Espera cobertura').first().waitFor()
    await revisar('sin-cobertura')
    expect(await tiposDe(una)).toEqual(['aceptado', 'recolectado', 'en_ruta'])

    // Coverage comes in pieces, and the page is closed and opened in between.
    puente.perder(/POST .*\/eventos$/)
    puente.cortar(/POST .*tipo=firma$/)
    puente.perder(/POST .*\/entrega$/)
    await contexto.setOffline(false)
    await hasta(async () => (await tiposDe(una)).length > 3)
    await pagina.reload()
    for (let i = 0; i < 4; i++) {
      await pagina.getByRole('heading', { name: /^Hola/ }).waitFor()
      await enviarYa()
      await new Promise((resolve) => setTimeout(resolve, 700))
      await pagina.reload()
    }
    await pagina.getByText('Enviado hoy (5)').waitFor()

    expect(await tiposDe(una)).toEqual([
      'aceptado',
      'recolectado',
      'en_ruta',
      'intento_fallido',
      'en_ruta',
      'entregado',
    ])
    const eventos = (await eventosDe(una)).slice(3)
    cerca(eventos[0]!.ocurrido_en, primero)
    cerca(eventos[2]!.ocurrido_en, entregado)
    const prueba = (await pruebaDe(una)).cuerpo
    expect(prueba.fotos).toHaveLength(2)
    expect(prueba.firma).not.toBeNull()
    // Photos that had arrived were not sent again, unless the first reload took the answer.
    const subidas = puente.pasados.filter((que) => que.includes('tipo=foto')).length
    expect([2, 3]).toContain(subidas)
    for (const guia of [otra, sinDatos]) {
      expect(await tiposDe(guia)).toEqual(['aceptado', 'recolectado', 'en_ruta', 'intento_fallido'])
    }
    const { rows } = await entorno.db.pool.query('select count(*)::int as n from evento where guia = any($1)', [
      [una, otra, sinDatos],
    ])
    expect(rows).toEqual([{ n: 6 + 4 + 4 }])
  })

  it('corrects the phone’s clock, and says when it is wrong', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir({ alEmpezar: 'const deVerdad = Date.now; Date.now = () => deVerdad() + 47 * 60_000' })
    await entrar(codigo)
    await pagina.getByText('está 47 min adelantado').waitFor()
    const momento = Date.now()
    await fallarIntento(guia)
    await hasta(async () => (await tiposDe(guia)).includes('intento_fallido'))
    cerca((await eventosDe(guia)).at(-1)!.ocurrido_en, momento)
  })

  it('shows what the service refused, and goes on with the rest', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const [cancelada, movida, libre] = [
      (await comercio.api.guias.crear(unaGuia())).guia,
      await enRuta(entorno, comercio),
      await enRuta(entorno, comercio),
    ]
    await abrir()
    await entrar(codigo)
    for (const guia of [cancelada, movida, libre]) {
      await abrirGuia(guia)
      await pagina.locator('.pasos').waitFor()
    }
    await instalado()
    await contexto.setOffline(true)
    await comercio.api.guias.cancelar(cancelada)
    await dar(cancelada, 'Recoger el paquete')
    await dar(cancelada, 'Dejar en bodega')
    await fallarIntento(movida)
    await fallarIntento(libre)
    await registrar(movida, { estado: 'en_devolucion', motivo: 'a_pedido_del_comercio' })
    await contexto.setOffline(false)
    await inicio()
    await pagina.getByText('Enviado hoy (2)').waitFor()
    await pagina.getByText('Necesita su atención').waitFor()
    // Older than what the depot read meanwhile: noted, and told.
    await pagina.getByText('Enviado hoy (2)').tap()
    await pagina.getByText('anotado, sin cambiar el estado').waitFor()
    expect(await tiposDe(libre)).toContain('intento_fallido')
    expect(await tiposDe(cancelada)).toEqual(['aceptado', 'cancelado'])
    await pagina.locator('.lista .atencion a').first().tap()
    await pagina.locator('.nota.mal').waitFor()
    expect(await pagina.locator('.nota.mal').textContent()).toContain('cancelado')
    await revisar('conflicto')
    await boton('Intentar otra vez').tap()
    await pagina.getByText('Necesita su atención').waitFor()
    for (const quedan of [1, 0]) {
      await pagina.locator('.nota.mal').waitFor()
      await boton('Descartar').tap()
      await pagina.getByText('¿Descartar esta acción?').waitFor()
      if (quedan === 1) await revisar('descartar')
      await pagina.getByRole('dialog').getByRole('button', { name: 'Descartar' }).tap()
      await titulo(/^Hola/).waitFor()
      if (quedan === 1) {
        await pagina.getByText('Necesita su atención').waitFor()
        await pagina.locator('.lista .atencion a').first().tap()
      }
    }
    expect(await pagina.getByText('Por enviar').count()).toBe(0)
    expect(await tiposDe(cancelada)).toEqual(['aceptado', 'cancelado'])
  })

  it('names the photo that was refused, and sends the delivery once it is corrected', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir()
    await entrar(codigo)
    await llenarEntrega(guia, { firmar: true })
    await pagina.getByText('precisión de unos 8 m').waitFor()
    const entrada = pagina.locator('input[type=file]')
    await entrada.setInputFiles({ name: 'x.heic', mimeType: 'image/heic', buffer: Buffer.from('nada') })
    await pagina.getByText('no pudo leer esa foto').waitFor()
    await entrada.setInputFiles({ name: 'x.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('tampoco') })
    await expect.poll(() => pagina.locator('.fotos li').count()).toBe(2)
    const momento = Date.now()
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('El servicio no aceptó').waitFor()
    await enlace('Vea por qué').tap()
    await pagina.getByText('(la foto 2)').waitFor()
    await revisar('foto-mala')
    await boton('Corregir').tap()
    await pagina.getByText('Corrige la entrega de las').waitFor()
    expect(await pagina.getByLabel('Nombre').inputValue()).toBe('María López')
    await boton('Quitar la foto 2').tap()
    await boton('Confirmar la entrega').tap()
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    // Who signed is gone by now: neither that nor the place is asked for again.
    expect((await pruebaDe(guia)).cuerpo).toMatchObject({ fotos: [{}], firma: {}, lat: 14.7189, precision_m: 8 })
    cerca((await pruebaDe(guia)).cuerpo.entregado_en, momento)
  })

  it('loses no photo when a delivery comes back while another try is half filled in', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir()
    await entrar(codigo)
    await llenarEntrega(guia)
    const entrada = pagina.locator('input[type=file]')
    await entrada.setInputFiles({ name: 'x.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('no es') })
    await expect.poll(() => pagina.locator('.fotos li').count()).toBe(2)
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('El servicio no aceptó').waitFor()
    await llenarEntrega(guia, { nombre: 'Otra Persona' })
    await abrirGuia(guia)
    await enlace('Vea por qué').tap()
    await boton('Corregir').tap()
    await pagina.getByText('Corrige la entrega de las').waitFor()
    await pagina.getByAltText('Foto 3', { exact: true }).waitFor()
    await boton('Quitar la foto 2').tap()
    await boton('Confirmar la entrega').tap()
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    expect((await pruebaDe(guia)).cuerpo).toMatchObject({ fotos: [{}, {}], recibido_por: { nombre: 'María López' } })
  })

  it('sends photos again that the service swept meanwhile', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir()
    await entrar(codigo)
    await llenarEntrega(guia, { firmar: true })
    puente.cortar(/\/entrega$/)
    await boton('Confirmar la entrega').tap()
    await hasta(async () => puente.pasados.some((que) => que.includes('tipo=firma')))
    await entorno.db.pool.query('delete from archivo where guia_id = (select id from guia where guia = $1)', [guia])
    await inicio()
    await hasta(async () => {
      await enviarYa()
      return (await pruebaDe(guia)).status === 200
    })
    expect(puente.pasados.filter((que) => que.includes('tipo=foto'))).toHaveLength(2)
  })

  it('keeps what was done when the session ends, and never sends it for another courier', COMPLETO, async () => {
    const [carlos, berta] = [await nuevoRepartidor(), await nuevoRepartidor('Berta Chávez')]
    const [guia, deBerta] = [await enRuta(entorno, comercio), await enRuta(entorno, comercio)]
    await abrir()
    await entrar(carlos.codigo)
    await abrirGuia(guia)
    await enlace('Entregar').waitFor()
    // The operator takes the code away.
    const nuevo = (await entorno.operar('POST', `/repartidores/${carlos.repartidor}/codigo`)).cuerpo.codigo
    await new Promise((resolve) => setTimeout(resolve, 1_100)) // in every process within a second
    await fallarIntento(guia)
    await pagina.getByText('Su sesión venció').waitFor()
    await inicio()
    await pagina.getByText('Espera a que entre otra vez').waitFor()
    await revisar('vencida')
    await enlace('Entre otra vez para enviar').tap()
    await entrar(berta.codigo)
    await pagina.getByText('Espera a Carlos Méndez').waitFor()
    await fallarIntento(deBerta)
    await hasta(async () => (await tiposDe(deBerta)).includes('intento_fallido'))
    expect(await tiposDe(guia)).not.toContain('intento_fallido')
    // What was at hand for one isn't for the other.
    expect(await pagina.locator('main').textContent()).not.toContain(enGrupos(guia))
    await inicio()
    await boton('Salir').tap()
    await pagina.getByText('¿Salir sin haberlo enviado todo?').waitFor()
    await boton('Quedarme').tap()
    await boton('Salir').tap()
    await boton('Salir de todos modos').tap()
    await pagina.getByText('guarda una acción sin enviar').waitFor()
    await entrar(nuevo)
    await hasta(async () => (await tiposDe(guia)).includes('intento_fallido'))
    await pagina.getByText('Enviado hoy (1)').waitFor()
    await boton('Salir').tap()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    expect(await enElTelefono()).not.toContain(guia)
  })

  it('sends nothing for another courier where the browser has no locks, either', COMPLETO, async () => {
    const [carlos, berta] = [await nuevoRepartidor(), await nuevoRepartidor('Berta Chávez')]
    const guia = await enRuta(entorno, comercio)
    await abrir({ alEmpezar: `Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })` })
    await entrar(carlos.codigo)
    await llenarEntrega(guia)
    // A photo that takes its time, while the phone changes hands.
    puente.demorar(/\/archivos/, 4_000)
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    await inicio()
    await boton('Salir').tap()
    await boton('Salir de todos modos').tap()
    await entrar(berta.codigo)
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    const { rows } = await entorno.db.pool.query('select autor from evento where guia = $1 order by secuencia', [guia])
    expect(rows.at(-1)).toEqual({ autor: carlos.repartidor })
  })

  it('works in two tabs without doing anything twice', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guias = [await enRuta(entorno, comercio), await enRuta(entorno, comercio)]
    await abrir()
    await entrar(codigo)
    const [aqui, alla] = [pagina, await contexto.newPage()]
    await alla.goto(`${puente.url}/repartidor`)
    await alla.getByRole('heading', { name: /^Hola/ }).waitFor()
    await contexto.setOffline(true)
    await fallarIntento(guias[0]!)
    pagina = alla
    await fallarIntento(guias[1]!)
    pagina = aqui
    await inicio()
    await pagina.getByRole('heading', { name: 'Por enviar (2)' }).waitFor()
    await contexto.setOffline(false)
    await pagina.getByText('Enviado hoy (2)').waitFor()
    for (const guia of guias) {
      expect((await tiposDe(guia)).filter((tipo) => tipo === 'intento_fallido')).toHaveLength(1)
      expect(puente.pasados.filter((que) => que.endsWith(`${guia}/eventos`))).toHaveLength(1)
    }
  })

  it('leaves a service alone that asks for it', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir()
    await entrar(codigo)
    await abrirGuia(guia)
    puente.rechazar(/\/eventos$/, 2)
    const momento = Date.now()
    await fallarIntento(guia)
    await inicio()
    await pagina.getByText('Por enviar (1)').waitFor()
    await hasta(async () => {
      await enviarYa()
      return (await tiposDe(guia)).includes('intento_fallido')
    })
    const { rows } = await entorno.db.pool.query(
      'select registrado_en from evento where guia = $1 order by secuencia',
      [guia],
    )
    expect(rows.at(-1).registrado_en.getTime() - momento).toBeGreaterThan(2_000)
    cerca((await eventosDe(guia)).at(-1)!.ocurrido_en, momento)
  })

  it('goes on with the rest when only one thing does not get through', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const [conFoto, otra] = [await enRuta(entorno, comercio), await enRuta(entorno, comercio)]
    await abrir()
    await entrar(codigo)
    // Small packets pass, large ones don't: what a bad network does to photos.
    puente.cortar(/\/archivos/, 1_000)
    await llenarEntrega(conFoto)
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    await fallarIntento(otra)
    await hasta(async () => (await tiposDe(otra)).includes('intento_fallido'))
    expect(await tiposDe(conFoto)).not.toContain('entregado')
    puente.sanar()
    await inicio()
    await hasta(async () => {
      await enviarYa()
      return (await pruebaDe(conFoto)).status === 200
    })
  })

  it('says which photo a proxy on the way finds too large', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const [conFoto, otra] = [await enRuta(entorno, comercio), await enRuta(entorno, comercio)]
    await abrir()
    await entrar(codigo)
    puente.contestar(/\/archivos/, 413)
    await llenarEntrega(conFoto)
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('El servicio no aceptó').waitFor()
    await fallarIntento(otra)
    await hasta(async () => (await tiposDe(otra)).includes('intento_fallido'))
    puente.sanar()
    await abrirGuia(conFoto)
    await enlace('Vea por qué').tap()
    await pagina.getByText('(la foto 1)').waitFor()
    await boton('Intentar otra vez').tap()
    await hasta(async () => (await pruebaDe(conFoto)).status === 200)
  })

  it('does not wait for a time that the phone’s clock was set back from', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir()
    await entrar(codigo)
    await abrirGuia(guia)
    await enlace('Entregar').waitFor()
    await instalado()
    await contexto.setOffline(true)
    await fallarIntento(guia)
    await evaluar(`new Promise((resolver) => { const abierta = indexedDB.open('repartidor')
      abierta.onsuccess = () => { const db = abierta.result, lejos = Date.now() + 86_400_000
        const tx = db.transaction(['acciones', 'ajustes'], 'readwrite')
        tx.objectStore('ajustes').put(lejos, 'pausa')
        const q = tx.objectStore('acciones').getAll()
        q.onsuccess = () => { for (const una of q.result) tx.objectStore('acciones').put({ ...una, noAntesDe: lejos }) }
        tx.oncomplete = () => { db.close(); resolver() } } })`)
    await contexto.setOffline(false)
    await inicio()
    await hasta(async () => {
      await enviarYa()
      return (await tiposDe(guia)).includes('intento_fallido')
    })
  })

  it('tells the service that somebody left until it has heard it', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    await abrir()
    await entrar(codigo)
    await contexto.setOffline(true)
    await boton('Salir').tap()
    await pagina.getByLabel('Su código de repartidor').waitFor()
    puente.rechazar(/^DELETE .*\/sesion$/, 1)
    await contexto.setOffline(false)
    await expect.poll(() => contexto.cookies()).toEqual([])
  })

  it('sends with the page closed, when the browser says that there is coverage', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir()
    await instalado()
    await entrar(codigo)
    await abrirGuia(guia)
    await enlace('Entregar').waitFor()
    puente.cortar(/\/sesion$/, 100)
    await llenarEntrega(guia)
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    const testigo = await contexto.newPage()
    await testigo.goto(`${puente.url}/healthz`)
    await pagina.close()
    const sesion = await contexto.newCDPSession(testigo)
    const registro = new Promise<string>((resolve) => {
      sesion.on(
        'ServiceWorker.workerRegistrationUpdated',
        ({ registrations: [uno] }) => uno && resolve(uno.registrationId),
      )
    })
    await sesion.send('ServiceWorker.enable')
    puente.sanar()
    const origin = puente.url
    await sesion.send('ServiceWorker.dispatchSyncEvent', {
      origin,
      registrationId: await registro,
      tag: 'cola',
      lastChance: false,
    })
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    pagina = testigo
  })

  it('says that the phone is full before anything is lost', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir()
    await entrar(codigo)
    await llenarEntrega(guia)
    // Chromium's own way of making a disk small does nothing in a private window.
    await evaluar(`{ const { add, put } = IDBObjectStore.prototype
      const lleno = () => { throw new DOMException('full', 'QuotaExceededError') }
      window.vaciar = () => void Object.assign(IDBObjectStore.prototype, { add, put })
      Object.assign(IDBObjectStore.prototype, { add: lleno, put: lleno }) } 0`)
    await pagina.locator('input[type=file]').setInputFiles(await foto())
    await pagina.getByText('no tiene espacio').waitFor()
    expect(await pagina.locator('.fotos li').count()).toBe(1)
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('no tiene espacio').waitFor()
    await evaluar('window.vaciar()')
    await boton('Confirmar la entrega').tap()
    await hasta(async () => (await pruebaDe(guia)).status === 200)
    // Done, it leaves nothing of the person behind, nor does looking at it again.
    await pagina.reload()
    await pagina.getByText('Esta guía ya terminó').waitFor()
    expect(await enElTelefono()).not.toContain('+502')
  })

  it('offers a new version, and changes to it without losing what is to be sent', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir()
    await entrar(codigo)
    await abrirGuia(guia)
    await enlace('Entregar').waitFor()
    const [antes] = (await instalado()) as string[]
    puente.cortar(/\/sesion$/, 50)
    await fallarIntento(guia)
    puente.cambiar = (ruta, cuerpo) =>
      ruta.endsWith('servicio.js') ? cuerpo.replace(/"version":"\w+"/, '"version":"otra"') : cuerpo
    await evaluar('navigator.serviceWorker.getRegistration("/repartidor").then((r) => r.update()).then(() => 0)')
    await pagina.getByText('Hay una versión nueva.').waitFor()
    expect(await evaluar<string[]>('caches.keys()')).toContain(antes)
    await boton('Cargarla').tap()
    await expect.poll(() => evaluar<string[]>('caches.keys()').catch(() => [])).toEqual(['repartidor-otra'])
    await pagina.getByText('Intento fallido (por enviar)').waitFor()
  })

  it('is used with a keyboard', COMPLETO, async () => {
    const { codigo } = await nuevoRepartidor()
    const guia = await enRuta(entorno, comercio)
    await abrir()
    await pagina.getByLabel('Su código').waitFor()
    await pagina.keyboard.press('Tab')
    await pagina.keyboard.type(codigo)
    await pagina.keyboard.press('Enter')
    await titulo(/^Hola/).waitFor()
    await pagina.keyboard.press('Tab')
    expect(await evaluar('document.activeElement.textContent')).toBe('Escanear')
    await pagina.keyboard.press('Tab')
    await pagina.keyboard.type(guia)
    await pagina.keyboard.press('Enter')
    await enlace('No se pudo entregar').press('Enter')
    await titulo('No se pudo entregar').waitFor()
    await pagina.keyboard.press('Tab')
    await pagina.keyboard.press('Space')
    // Photos, the note, the button.
    for (let i = 0; i < 3; i++) await pagina.keyboard.press('Tab')
    await pagina.keyboard.press('Enter')
    await hasta(async () => (await tiposDe(guia)).includes('intento_fallido'))
    expect((await eventosDe(guia)).at(-1)!.motivo).toBe('destinatario_ausente')
  })
})
