/**
 * Entry point of `npm run illustrate`: makes the README's images and writes them to `docs/`. They show what a new user
 * sees: `npm start` with fresh data, a first guide, and one parcel on the phones of recipient and courier. Needs
 * Chromium and curl.
 */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Guias } from '@guias/sdk'
import type { Page } from 'playwright-core'
import sharp, { type OverlayOptions } from 'sharp'
import { inGroups } from '../server/platform/codes/guideCode.ts'
import { NO_BROWSER, withPhone } from './demo/browser.ts'
import { createOperatorApi } from './demo/operatorApi.ts'
import { drawSignature } from './demo/repartidor.ts'
import { readUntil } from './demo/wait.ts'
import { pagesDigest } from './illustrate/pagesDigest.ts'
import { type Demo, type FreshService, withFreshService } from './illustrate/service.ts'
import { terminal } from './illustrate/terminal.ts'

const execute = promisify(execFile)
const root = new URL('../', import.meta.url)
const FOTO = fileURLToPath(new URL('server/domain/simulador/muestras/foto.jpg', root))
const MAX_KB = 150
/** Default port of the service, which the images show instead of the actual one. */
const DEFAULT_PORT = 3000

/** Creates a guide, and prints its code and the address that shows it to the recipient. */
const FIRST_GUIDE = String.raw`curl -s "$GUIAS_URL/api/v1/guias" -H "Authorization: Bearer $GUIAS_LLAVE" \
    --json '{"telefono":"3148 1676","departamento":"Guatemala","municipio":"Mixco",
             "recogida":{"nombre":"Bodega Zona 12","lat":14.58361,"lng":-90.54861}}' |
    grep -oE '"(guia|url_rastreo)":"[^"]+"'`

const DOOR = { lat: 14.63077, lng: -90.60711 }
const RECOGIDA = { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 }
const DESTINO = { telefono: '3148 1676', departamento: 'Guatemala', municipio: 'Mixco', recogida: RECOGIDA }

/** Parcels that the courier carries after the parcel of the images. */
const LATER_STOPS = [
  { destinatario: 'Byron López', direccion: '5a avenida 12-30, zona 4', lat: 14.6335, lng: -90.6093 },
  { destinatario: 'Rosa Caal', direccion: '9a calle 2-15, zona 6', lat: 14.6362, lng: -90.6121 },
]

/** Takes the images of one parcel: its place is asked, it is the next stop, it is on its way, and it was delivered. */
async function takeScreens({ url, llave, llave_operaciones, codigo_repartidor }: Demo): Promise<Buffer[]> {
  const merchant = new Guias({ llave, baseUrl: url })
  const operate = createOperatorApi(url, llave_operaciones)
  const { guia } = await merchant.guias.crear({
    ...DESTINO,
    destinatario: 'María José Ajú',
    direccion: '2a calle 3-45, zona 1',
    contenido: '2 pares de zapatos',
  })
  const later = await Promise.all(LATER_STOPS.map((stop) => merchant.guias.crear({ ...DESTINO, ...stop })))
  const { datos } = (await operate('GET', 'repartidores')) as { datos: [{ repartidor: string }] }
  const [{ repartidor }] = datos
  const takeOut = async (code: string) => {
    for (const estado of ['recolectado', 'en_ruta'])
      await operate('POST', `guias/${code}/eventos`, { estado, repartidor })
  }
  const where = { latitude: DOOR.lat + 0.0001, longitude: DOOR.lng, accuracy: 8 }
  return withPhone(where, async (page) => {
    const link = await findLink(url, guia)
    await page.goto(link)
    await page.getByRole('button', { name: 'Estoy ahí ahora' }).waitFor()
    const question = await page.screenshot()
    await merchant.guias.confirmarUbicacion(guia, { ...DOOR, referencia: 'Portón verde, frente a la tienda' })
    for (const code of [guia, ...later.map((stop) => stop.guia)]) await takeOut(code)
    await page.goto(`${url}/r/${guia}`)
    const tracking = await page.screenshot()
    const nextStop = await showNextStop(page, url, codigo_repartidor)
    await deliver(page)
    const { pdf } = await merchant.guias.esperarPrueba(guia)
    const buffer = Buffer.from(await merchant.archivos.descargar(pdf))
    await page.goto(`${url}/verificar/${guia}`)
    await page.locator('input[type=file]').setInputFiles({ name: 'prueba.pdf', mimeType: 'application/pdf', buffer })
    const verdict = page.getByRole('status').getByRole('heading')
    await verdict.getByText('Comprobando…').waitFor({ state: 'detached' })
    await verdict.scrollIntoViewIfNeeded()
    return [question, nextStop, tracking, await page.screenshot()]
  })
}

/** Waits for the message to a guide's recipient, and returns its link. */
async function findLink(url: string, guia: string): Promise<string> {
  const readPath = async () => {
    const mailbox = await (await fetch(`${url}/buzon`)).text()
    const message = mailbox.split('<li ').find((part) => part.includes(inGroups(guia)))
    return /u\/[\w-]{22}/.exec(message ?? '')?.[0]
  }
  const path = await readUntil(readPath, (found) => found !== undefined)
  if (!path) throw new Error(`the mailbox has no message about ${guia}`)
  return `${url}/${path}`
}

/** Signs the courier in, and shows the first screen. */
async function showNextStop(page: Page, url: string, code: string): Promise<Buffer> {
  await page.goto(`${url}/repartidor`)
  await page.getByLabel('Su código de repartidor').fill(code)
  await page.getByRole('button', { name: 'Entrar' }).tap()
  await page.getByRole('link', { name: 'Entregar' }).first().waitFor()
  await page.getByText('Rosa Caal').waitFor()
  return page.screenshot()
}

/** Delivers the next stop. */
async function deliver(page: Page): Promise<void> {
  const button = (name: string) => page.getByRole('button', { name })
  await page.getByRole('link', { name: 'Entregar' }).first().tap()
  await page.locator('input[type=file]').setInputFiles(FOTO)
  await page.getByAltText('Foto 1').waitFor()
  await button('Seguir').tap()
  await button('Es a quien viene').tap()
  await drawSignature(page)
  await button('Seguir').tap()
  await button('Confirmar la entrega').tap()
  await page.getByText('Enviado.').waitFor()
}

/** Height of each image in the strip, in pixels. */
const HEIGHT = 640
const MARGIN = 20
/**
 * Places images side by side on a grey background, so that they are visible on white and on black pages. The result is
 * described by the digest of the pages.
 */
async function drawStrip(images: Buffer[]): Promise<Buffer> {
  const layers: OverlayOptions[] = []
  let left = MARGIN
  for (const image of images) {
    const { data, info } = await sharp(image)
      .flatten({ background: '#ffffff' })
      .resize({ height: HEIGHT })
      .png()
      .toBuffer({ resolveWithObject: true })
    layers.push({ input: data, top: MARGIN, left })
    left += info.width + MARGIN
  }
  const create = { width: left, height: HEIGHT + 2 * MARGIN, channels: 3 as const, background: '#64748b' }
  return sharp({ create })
    .composite(layers)
    .png({ palette: true, colours: 32, dither: 0, effort: 10 })
    .withExif({ IFD0: { ImageDescription: pagesDigest() } })
    .toBuffer()
}

async function illustrate({ dataDir, output, demo }: FreshService) {
  const env = { ...process.env, GUIAS_URL: demo.url, GUIAS_LLAVE: demo.llave }
  const { stdout } = await execute('bash', ['-ec', FIRST_GUIDE], { env })
  // The images show the default port and folder, as on a reader's screen.
  const shown = (text: string) =>
    text.replaceAll(`:${new URL(demo.url).port}`, `:${DEFAULT_PORT}`).replaceAll(dataDir, '.datos')
  const started = /Guías está listo.*/.exec(shown(output))![0]
  const images = {
    'terminal.svg': terminal([
      { command: 'npm start', output: started },
      { command: FIRST_GUIDE, output: shown(stdout) },
    ]),
    'paginas.png': await drawStrip(await takeScreens(demo)),
  }
  let bytes = 0
  for (const [name, content] of Object.entries(images)) {
    await writeFile(new URL(`docs/${name}`, root), content)
    bytes += Buffer.byteLength(content)
    console.log(`docs/${name}`)
  }
  if (bytes > MAX_KB * 1024) throw new Error(`${bytes} bytes: more than ${MAX_KB} KB`)
}

if (NO_BROWSER) throw new Error(NO_BROWSER)
await withFreshService(illustrate)
