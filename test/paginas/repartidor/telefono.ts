import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { unaFoto } from '../../archivos/imagenes.ts'
import { type Comercio, compartirEntorno, type Entorno } from '../../entorno.ts'
import { unaGuia } from '../../fabricas.ts'
import { abrirContexto } from '../../navegador.ts'
import { crearPuente, type Puente } from '../puente.ts'
import { evaluarEn, revisarPagina } from '../revisar.ts'

// What a file's tests see and touch, one file after another: a merchant, a network and a phone.
export let entorno: Entorno
export let comercioDelTelefono: Comercio
export let puente: Puente
export let contexto: BrowserContext
export let pagina: Page
/** What the page complained of, and what it asked for. */
const quejas: string[] = []
export const pedidas: string[] = []

/** Called once at the top of a test file, which may have a service of its own. */
export function usarTelefono(suyo: Entorno = compartirEntorno()) {
  entorno = suyo
  beforeAll(async () => {
    // A file before this one, of the same worker, may have left its own.
    quejas.length = pedidas.length = 0
    comercioDelTelefono = await entorno.nuevoComercio()
    puente = await crearPuente(() => entorno.url)
  })
  afterAll(() => puente?.cerrar())
  afterEach(async () => {
    await contexto?.close()
    puente.sanar()
    expect([...new Set(quejas)]).toEqual([])
    expect(pedidas.filter((una) => !una.startsWith(`${puente.url}/`) && !una.startsWith('blob:'))).toEqual([])
  })
}

/** From now on the tests look at this tab. */
export function mirar(pestana: Page) {
  pagina = pestana
}

export const enGrupos = (guia: string) => guia.replace(/(.{4})(?=.)/g, '$1-')
export const nuevoRepartidor = async (nombre = 'Carlos Méndez') =>
  (await entorno.operar('POST', '/repartidores', { nombre })).cuerpo as { repartidor: string; codigo: string }
interface Evento {
  tipo: string
  estado: string
  motivo: string | null
  descripcion: string
  ocurrido_en: string
}
export const eventosDe = async (guia: string): Promise<Evento[]> =>
  (await entorno.operar('GET', `/guias/${guia}`)).cuerpo.eventos.datos
export const tiposDeEventos = async (guia: string) =>
  (await eventosDe(guia)).map(({ tipo }) => tipo.replace('guia.', ''))
export const registrarComoOperador = (guia: string, cuerpo: object) =>
  entorno.operar('POST', `/guias/${guia}/eventos`, cuerpo)
export const PERSONA = { destinatario: 'María José Ajú', direccion: '5a avenida norte 12' }
/** A guide in one state after another, in the hands of that courier. */
export async function guiaEn(repartidor: string, estados: readonly string[], datos: object = PERSONA) {
  const { guia } = await comercioDelTelefono.api.guias.crear(unaGuia(datos))
  const motivos: Record<string, string> = { en_devolucion: 'otro', intento_fallido: 'otro', extraviado: 'otro' }
  for (const estado of estados) {
    const toma = ['recolectado', 'en_ruta'].includes(estado) ? { repartidor } : {}
    const motivo = motivos[estado] ? { motivo: motivos[estado], descripcion: 'Así fue' } : {}
    await registrarComoOperador(guia, { estado, ...toma, ...motivo })
  }
  return guia
}
export const pruebaDe = (guia: string) =>
  entorno.pedir('GET', `/api/v1/guias/${guia}/prueba-entrega`, { llave: comercioDelTelefono.llave })
/** The page on a new phone: with a script that runs before its own, or in a browser of the test's. */
export async function abrirTelefono(
  opciones: BrowserContextOptions & { alEmpezar?: string } = {},
  navegador?: Browser,
) {
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
/** Not Playwright's `evaluate()`, which the page's policy would report as an eval. */
export const evaluar = <T>(expression: string, en = pagina): Promise<T> => evaluarEn<T>(en, expression)
const BLANCOS = 'a, button, input:not(.oculto, [type=radio], [type=checkbox]), select, textarea, .opcion, summary'
/** Labels whose radio or checkbox does not stand at their left, at the height of their text. */
const CHOICES_NOT_BESIDE_LABEL = `[...document.querySelectorAll('label:not(.segmento > *):has(> [type=radio], > [type=checkbox])')]
  .filter((label) => {
    const range = document.createRange()
    range.setStartAfter(label.querySelector('input'))
    range.setEndAfter(label.lastChild)
    const [text, choice] = [range, label.querySelector('input')].map((part) => part.getBoundingClientRect())
    return choice.right > text.left || choice.top > text.bottom || choice.bottom < text.top
  })
  .map((label) => label.textContent)`
/** In a window that holds the whole page: what the bar covers for now is scrolled from below it. */
export async function revisarVentana(nombre: string) {
  const ventana = pagina.viewportSize()!
  const height = Math.max(ventana.height, await evaluar<number>('document.documentElement.scrollHeight'))
  await pagina.setViewportSize({ ...ventana, height })
  await revisarPagina({ pagina, nombre: `repartidor-${nombre}`, blancos: BLANCOS })
  expect(await evaluar(CHOICES_NOT_BESIDE_LABEL)).toEqual([])
  await pagina.setViewportSize(ventana)
}
export const boton = (name: string | RegExp) => pagina.getByRole('button', { name })
export const enlace = (name: string) => pagina.getByRole('link', { name, exact: true })
export const titulo = (name: string | RegExp) => pagina.getByRole('heading', { name, level: 1 })
/** A screen's title once it has the focus: a key pressed before goes to a control that loses it. */
export const abierta = (name: string | RegExp) => titulo(name).and(pagina.locator(':focus'))
export async function entrarEnLaPagina(codigo: string) {
  await pagina.getByLabel('Su código de repartidor').fill(codigo)
  await boton('Entrar').tap()
  await enlace('Escanear').waitFor()
}
export async function abrirGuia(guia: string) {
  await pagina.goto(`${puente.url}/repartidor#/guia/${guia}`)
  await titulo(enGrupos(guia)).waitFor()
}
export const inicio = () => pagina.goto(`${puente.url}/repartidor#/`)
/** The screen of what was done and what still has to be sent. */
export const hoy = () => pagina.goto(`${puente.url}/repartidor#/hoy`)
export async function salir() {
  await pagina.goto(`${puente.url}/repartidor#/mas`)
  await boton('Salir').tap()
}
/** The rows of the first screen: the next stop and the others, by their addresses. */
export const paradas = () =>
  evaluar<string[]>(`[...document.querySelectorAll('.donde, .breve strong')].map((d) => d.textContent.split(',')[0])`)
export const instalado = () => evaluar('navigator.serviceWorker.ready.then(() => caches.keys())')
export async function fallarIntento(guia: string, motivo = 'No había nadie', conFoto = false) {
  await abrirGuia(guia)
  await enlace('No se pudo entregar').tap()
  await pagina.getByLabel(motivo).check()
  if (conFoto) {
    await pagina.locator('input[type=file]').setInputFiles(await fotoDeColor())
    await pagina.getByAltText('Foto 1', { exact: true }).waitFor()
  }
  await boton('Registrar').tap()
  await pagina.getByText('Intento fallido').first().waitFor()
}
export async function dar(guia: string, paso: string) {
  await abrirGuia(guia)
  await enlace(paso).tap()
  await boton('Registrar').tap()
  await pagina.locator('.palomita').waitFor()
}
/** Without waiting for the next try; it may all have gone by itself. */
export const enviarYa = () =>
  boton('Enviar ahora')
    .tap({ timeout: 500 })
    .catch(() => {})
export const fotoDeColor = async (color?: string) => ({
  name: 'foto.jpg',
  mimeType: 'image/jpeg',
  buffer: await unaFoto(color ? { color } : {}),
})
export async function llenarEntrega(guia: string, { nombre = 'María López', fotos = 1, firmar = false } = {}) {
  await abrirGuia(guia)
  await enlace('Entregar').tap()
  await titulo('Entregar').waitFor()
  for (let i = 1; i <= fotos; i++) {
    await pagina.locator('input[type=file]').setInputFiles(await fotoDeColor())
    await pagina.getByAltText(`Foto ${i}`, { exact: true }).waitFor()
  }
  await pagina.getByLabel('Nombre').fill(nombre)
  if (firmar) await dibujarFirma()
}
export async function dibujarFirma() {
  const lienzo = pagina.locator('canvas.firma')
  await lienzo.scrollIntoViewIfNeeded()
  const { x, y, width, height } = (await lienzo.boundingBox())!
  for (const desde of [0.2, 0.5]) {
    await pagina.mouse.move(x + width * desde, y + height * 0.3)
    await pagina.mouse.down()
    for (let i = 1; i <= 12; i++) {
      await pagina.mouse.move(x + width * (desde + i / 50), y + height * (0.3 + (i % 4) / 8))
      // Drawn before it goes on: points of one frame are taken for one.
      await evaluar('new Promise(requestAnimationFrame)')
    }
    await pagina.mouse.up()
  }
}
export const oscuros = () =>
  evaluar<number>(`(() => { const c = document.querySelector('canvas.firma')
      const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data
      let n = 0; for (let i = 0; i < d.length; i += 4) if (d[i] < 128) n++; return n / (d.length / 4) })()`)
/** That it happened between two readings of this machine's clock, as far as a phone that heard whole seconds knows. */
export const ocurrioEntre = (instante: string, desde: number, hasta: number) => {
  expect(Date.parse(instante)).toBeGreaterThan(desde - 2_000)
  expect(Date.parse(instante)).toBeLessThan(hasta + 2_000)
}
/** Everything that lies in the database of the page, as text. */
export const enElTelefono = () =>
  evaluar<string>(`new Promise((resolver) => { const abierta = indexedDB.open('repartidor')
      abierta.onsuccess = async () => { const db = abierta.result
        const todo = await Promise.all([...db.objectStoreNames].map((a) => new Promise((r) => {
          const q = db.transaction(a).objectStore(a).getAll(); q.onsuccess = () => r([a, q.result]) })))
        db.close(); resolver(JSON.stringify(todo)) } })`)
