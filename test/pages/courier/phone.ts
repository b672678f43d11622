import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { createFoto } from '../../archivos/images.ts'
import { openContext } from '../../browser.ts'
import { type Comercio, shareEnvironment, type TestEnvironment } from '../../environment.ts'
import { buildGuia } from '../../factories.ts'
import { createBridge, type NetworkBridge } from '../bridge.ts'
import { checkPage, evaluateIn } from '../inspect.ts'
import { checkLayout } from '../layout.ts'

// What a file's tests see and touch, one file after another: a merchant, a network and a phone.
export let phoneEnvironment: TestEnvironment
export let phoneComercio: Comercio
export let phoneBridge: NetworkBridge
export let phoneContext: BrowserContext
export let pagina: Page
/** What the page complained of, and what it asked for. */
const complaints: string[] = []
export const requestedUrls: string[] = []

/** Called once at the top of a test file, which may have a service of its own. */
export function usePhone(environment: TestEnvironment = shareEnvironment()) {
  phoneEnvironment = environment
  beforeAll(async () => {
    // A file before this one, of the same worker, may have left its own.
    complaints.length = requestedUrls.length = 0
    phoneComercio = await phoneEnvironment.createComercio()
    phoneBridge = await createBridge(() => phoneEnvironment.url)
  })
  afterAll(() => phoneBridge?.close())
  afterEach(async () => {
    await phoneContext?.close()
    phoneBridge.heal()
    expect([...new Set(complaints)]).toEqual([])
    expect(
      requestedUrls.filter(
        (requestedUrl) => !requestedUrl.startsWith(`${phoneBridge.url}/`) && !requestedUrl.startsWith('blob:'),
      ),
    ).toEqual([])
  })
}

/** From now on the tests look at this tab. */
export function watchTab(tab: Page) {
  pagina = tab
}

export const groupCode = (guia: string) => guia.replace(/(.{4})(?=.)/g, '$1-')
export const createTestRepartidor = async (nombre = 'Carlos Méndez') =>
  (await phoneEnvironment.asOperador('POST', '/repartidores', { nombre })).body as {
    repartidor: string
    codigo: string
  }
interface Evento {
  tipo: string
  estado: string
  motivo: string | null
  descripcion: string
  ocurrido_en: string
}
export const readEventos = async (guia: string): Promise<Evento[]> =>
  (await phoneEnvironment.asOperador('GET', `/guias/${guia}`)).body.eventos.datos
export const readShortEventoTypes = async (guia: string) =>
  (await readEventos(guia)).map(({ tipo }) => tipo.replace('guia.', ''))
export const registerAsOperador = (guia: string, body: object) =>
  phoneEnvironment.asOperador('POST', `/guias/${guia}/eventos`, body)
export const PERSONA = { destinatario: 'María José Ajú', direccion: '5a avenida norte 12' }
/** A guide in one state after another, in the hands of that courier. */
export async function createGuiaIn(repartidor: string, estados: readonly string[], datos: object = PERSONA) {
  const { guia } = await phoneComercio.api.guias.crear(buildGuia(datos))
  const motivos: Record<string, string> = { en_devolucion: 'otro', intento_fallido: 'otro', extraviado: 'otro' }
  for (const estado of estados) {
    const takeFields = ['recolectado', 'en_ruta'].includes(estado) ? { repartidor } : {}
    const motivo = motivos[estado] ? { motivo: motivos[estado], descripcion: 'Así fue' } : {}
    await registerAsOperador(guia, { estado, ...takeFields, ...motivo })
  }
  return guia
}
export const readPrueba = (guia: string) =>
  phoneEnvironment.request('GET', `/api/v1/guias/${guia}/prueba-entrega`, { llave: phoneComercio.llave })
/** The page on a new phone: with a script that runs before its own, or in a browser of the test's. */
export async function openPhone(options: BrowserContextOptions & { initScript?: string } = {}, browser?: Browser) {
  complaints.length = 0
  requestedUrls.length = 0
  phoneBridge.forwardedRequests.length = 0
  const { initScript, ...contextOptions } = options
  const telefono: BrowserContextOptions = {
    viewport: { width: 360, height: 740 },
    deviceScaleFactor: 2,
    hasTouch: true,
    isMobile: true,
    permissions: ['camera', 'geolocation'],
    geolocation: { latitude: 14.7189, longitude: -90.6442, accuracy: 8 },
  }
  phoneContext = await openContext({ ...telefono, ...contextOptions }, browser)
  phoneContext.on('request', (solicitud) => requestedUrls.push(solicitud.url()))
  phoneContext.on('console', (mensaje) => {
    // What a browser writes of answers and connections that the page deals with.
    const isExpected =
      /ERR_INTERNET_DISCONNECTED|ERR_EMPTY_RESPONSE|ERR_CONNECTION|status of [45]\d\d|willReadFrequently/.test(
        mensaje.text(),
      )
    if (['error', 'warning'].includes(mensaje.type()) && !isExpected) complaints.push(mensaje.text().slice(0, 300))
  })
  phoneContext.on('weberror', (error) => complaints.push(`uncaught: ${error.error().message}`))
  await phoneContext.exposeFunction('violada', (violation: string) => complaints.push(`CSP: ${violation}`))
  await phoneContext.addInitScript(`document.addEventListener('securitypolicyviolation', (e) =>
      window.violada(e.violatedDirective + ' ' + e.blockedURI.slice(0, 80)))`)
  if (initScript) await phoneContext.addInitScript(initScript)
  pagina = await phoneContext.newPage()
  await pagina.goto(`${phoneBridge.url}/repartidor`)
}
/** Not Playwright's `evaluate()`, which the page's policy would report as an eval. */
export const evaluateOnPhone = <T>(expression: string, page = pagina): Promise<T> => evaluateIn<T>(page, expression)
/** Makes the phone's queue and all its actions wait for some milliseconds, as if the clock had been set back by them. */
export const postponeQueue = (ms: number) =>
  evaluateOnPhone(`new Promise((resolver) => { const abierta = indexedDB.open('repartidor')
      abierta.onsuccess = () => { const db = abierta.result, lejos = Date.now() + ${ms}
        const tx = db.transaction(['actions', 'settings'], 'readwrite')
        tx.objectStore('settings').put(lejos, 'pausedUntil')
        const q = tx.objectStore('actions').getAll()
        q.onsuccess = () => { for (const una of q.result) tx.objectStore('actions').put({ ...una, notBefore: lejos }) }
        tx.oncomplete = () => { db.close(); resolver() } } })`)
const TOUCH_TARGETS = 'a, button, input:not(.oculto, [type=radio], [type=checkbox]), select, textarea, .opcion, summary'
/** In a window that holds the whole page: what the bar covers for now is scrolled from below it. */
export async function checkWindow(name: string) {
  const ventana = pagina.viewportSize()!
  const height = Math.max(ventana.height, await evaluateOnPhone<number>('document.documentElement.scrollHeight'))
  await pagina.setViewportSize({ ...ventana, height })
  await checkPage({ pagina, nombre: `repartidor-${name}`, touchTargets: TOUCH_TARGETS })
  await checkLayout(pagina, name)
  await pagina.setViewportSize(ventana)
}
export const locateButton = (name: string | RegExp) => pagina.getByRole('button', { name })
export const link = (name: string) => pagina.getByRole('link', { name, exact: true })
export const titulo = (name: string | RegExp) => pagina.getByRole('heading', { name, level: 1 })
/** A screen's title once it has the focus: a key pressed before goes to a control that loses it. */
export const openedGuia = (name: string | RegExp) => titulo(name).and(pagina.locator(':focus'))
export async function signInOnPage(codigo: string) {
  await pagina.getByLabel('Su código de repartidor').fill(codigo)
  await locateButton('Entrar').tap()
  await link('Escanear').waitFor()
}
export async function openGuiaPage(guia: string) {
  await pagina.goto(`${phoneBridge.url}/repartidor#/guia/${guia}`)
  await titulo(groupCode(guia)).waitFor()
}
export const goHome = () => pagina.goto(`${phoneBridge.url}/repartidor#/`)
/** The screen of what was done and what still has to be sent. */
export const today = () => pagina.goto(`${phoneBridge.url}/repartidor#/hoy`)
export async function signOutOfPage() {
  await pagina.goto(`${phoneBridge.url}/repartidor#/mas`)
  await locateButton('Salir').tap()
}
/** The rows of the first screen: the next stop and the others, by their addresses. */
export const readStops = () =>
  evaluateOnPhone<string[]>(
    `[...document.querySelectorAll('.donde, .breve strong')].map((d) => d.textContent.split(',')[0])`,
  )
export const waitForInstall = () => evaluateOnPhone('navigator.serviceWorker.ready.then(() => caches.keys())')
/** Looks at another application for a moment, which ends the time to undo a step. */
const endUndo = () => evaluateOnPhone(`document.dispatchEvent(new Event('visibilitychange'))`)
/** Waits for the screen after a step, and ends the time to undo it. */
export async function waitForDone(title: string) {
  await titulo(title).waitFor()
  await endUndo()
}
export async function reportIntento(guia: string, motivo: string, withFoto = false) {
  await openGuiaPage(guia)
  await link('No se pudo entregar').tap()
  await pagina.getByLabel(motivo).check()
  if (withFoto) {
    await pagina.locator('input[type=file]').setInputFiles(await createColorFoto())
    await pagina.getByAltText('Foto 1', { exact: true }).waitFor()
  }
  await locateButton('Registrar').tap()
}
export async function failIntento(guia: string, motivo = 'No había nadie', withFoto = false) {
  await reportIntento(guia, motivo, withFoto)
  await waitForDone('Intento fallido')
}
export async function tapStep(guia: string, step: string) {
  await openGuiaPage(guia)
  await link(step).tap()
  await locateButton('Registrar').tap()
  await pagina.locator('.palomita').waitFor()
  await endUndo()
}
/** Without waiting for the next try; it may all have gone by itself. */
export const tapSendNow = () =>
  locateButton('Enviar ahora')
    .tap({ timeout: 500 })
    .catch(() => {})
export const createColorFoto = async (color?: string) => ({
  name: 'foto.jpg',
  mimeType: 'image/jpeg',
  buffer: await createFoto(color ? { color } : {}),
})
/** Opens a step of a delivery by its address. */
export const openStep = (guia: string, step: string) =>
  pagina.goto(`${phoneBridge.url}/repartidor#/guia/${guia}/entregar/${step}`)
/** Goes through the steps of a delivery up to the last one. Without a name, the recipient receives the parcel. */
export async function fillEntrega(
  guia: string,
  { nombre = 'María López', fotos = 1, firmar = false, documento = '' } = {},
) {
  await openGuiaPage(guia)
  await link('Entregar').tap()
  await titulo('Tome una foto').waitFor()
  for (let i = 1; i <= fotos; i++) {
    await pagina.locator('input[type=file]').setInputFiles(await createColorFoto())
    await pagina.getByAltText(`Foto ${i}`, { exact: true }).waitFor()
  }
  await locateButton('Seguir').tap()
  await titulo('¿Quién recibe?').waitFor()
  if (nombre) {
    await pagina.getByLabel('Nombre').fill(nombre)
    await locateButton('Seguir').tap()
  } else await locateButton('Es a quien viene').tap()
  await titulo(/^(?:Firma|Documento|Entregar)$/).waitFor()
  if (firmar) await drawFirma()
  if (documento) await pagina.getByLabel('Documento').fill(documento)
  if (!(await titulo('Entregar').isVisible())) await locateButton('Seguir').tap()
  await titulo('Entregar').waitFor()
}
export async function drawFirma() {
  const canvas = pagina.locator('canvas.firma')
  await canvas.scrollIntoViewIfNeeded()
  const { x, y, width, height } = (await canvas.boundingBox())!
  for (const from of [0.2, 0.5]) {
    await pagina.mouse.move(x + width * from, y + height * 0.3)
    await pagina.mouse.down()
    for (let i = 1; i <= 12; i++) {
      await pagina.mouse.move(x + width * (from + i / 50), y + height * (0.3 + (i % 4) / 8))
      // Drawn before it goes on: points of one frame are taken for one.
      await evaluateOnPhone('new Promise(requestAnimationFrame)')
    }
    await pagina.mouse.up()
  }
}
export const countDarkPixels = () =>
  evaluateOnPhone<number>(`(() => { const c = document.querySelector('canvas.firma')
      const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data
      let n = 0; for (let i = 0; i < d.length; i += 4) if (d[i] < 128) n++; return n / (d.length / 4) })()`)
/** That it happened between two readings of this machine's clock, as far as a phone that heard whole seconds knows. */
export const expectOccurredBetween = (instant: string, from: number, hasta: number) => {
  expect(Date.parse(instant)).toBeGreaterThan(from - 2_000)
  expect(Date.parse(instant)).toBeLessThan(hasta + 2_000)
}
/** Everything that lies in the database of the page, as text. */
export const dumpPhoneDatabase = () =>
  evaluateOnPhone<string>(`new Promise((resolver) => { const abierta = indexedDB.open('repartidor')
      abierta.onsuccess = async () => { const db = abierta.result
        const todo = await Promise.all([...db.objectStoreNames].map((a) => new Promise((r) => {
          const q = db.transaction(a).objectStore(a).getAll(); q.onsuccess = () => r([a, q.result]) })))
        db.close(); resolver(JSON.stringify(todo)) } })`)
