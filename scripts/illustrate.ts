/**
 * Entry point of `npm run illustrate`: makes the README's images and writes them to `docs/`. They show what a new user
 * does: `npm start` with fresh data, the README's own `curl`, and a delivery in the courier's page. Needs Chromium and
 * poppler's `pdftoppm`.
 */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Guia, Guias } from '@guias/sdk'
import sharp, { type OverlayOptions } from 'sharp'
import { NO_BROWSER, withPhone } from './demo/browser.ts'
import { drawSignature, startRoute } from './demo/repartidor.ts'
import { type Demo, type FreshService, withFreshService } from './illustrate/service.ts'
import { terminal } from './illustrate/terminal.ts'

const execute = promisify(execFile)
const root = new URL('../', import.meta.url)
const FOTO = fileURLToPath(new URL('server/domain/simulador/muestras/foto.jpg', root))
const MAX_KB = 150
/** Default port of the service, which the images show instead of the actual one. */
const DEFAULT_PORT = 3000

/** Creates the first guide with the README's own command. */
async function readFirstGuia(dataDir: string) {
  const readme = await readFile(new URL('README.md', root), 'utf8')
  const [, command = ''] = /^```bash\n(GUIAS_URL=[\s\S]*?)\n```$/m.exec(readme) ?? []
  const { stdout } = await execute('bash', ['-ec', command.replaceAll('./.datos', dataDir)])
  return { command, respuesta: stdout, guia: JSON.parse(stdout) as Guia }
}

async function drawPages({ url, llave_operaciones, codigo_repartidor, llave }: Demo, guia: Guia) {
  const respuesta = await fetch(`${url}/operaciones/v1/guias/${guia.guia}/eventos`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${llave_operaciones}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ estado: 'recolectado' }),
  })
  if (respuesta.status !== 201) throw new Error(await respuesta.text())
  const donde = { latitude: guia.lat! + 0.0001, longitude: guia.lng!, accuracy: 8 }
  const screens = await withPhone(donde, async (pagina) => {
    const button = (name: string) => pagina.getByRole('button', { name })
    await pagina.setViewportSize({ width: 390, height: 800 })
    await pagina.goto(`${url}/repartidor`)
    await pagina.getByLabel('Su código de repartidor').fill(codigo_repartidor)
    await button('Entrar').tap()
    await startRoute(pagina, guia.guia)
    await pagina.getByRole('link', { name: 'Entregar', exact: true }).tap()
    await pagina.locator('input[type=file]').setInputFiles(FOTO)
    await pagina.getByAltText('Foto 1').waitFor()
    await button('Seguir').tap()
    await pagina.getByLabel('Nombre').fill('María José Ajú')
    await pagina.getByLabel('Quién es').selectOption('destinatario')
    await button('Seguir').tap()
    await drawSignature(pagina)
    const deliveryScreen = await pagina.screenshot()
    await button('Seguir').tap()
    await pagina.getByText('precisión de unos 8 m').waitFor()
    await button('Confirmar la entrega').tap()
    await pagina.getByText('Enviado.').waitFor()
    await pagina.goto(`${url}/r/${guia.guia}`)
    return [deliveryScreen, await pagina.screenshot()]
  })
  const api = new Guias({ llave, baseUrl: url })
  for (let i = 0; i < 200; i++) {
    const { pdf } = await api.guias.pruebaEntrega(guia.guia)
    if (pdf) return { screens, pdf: Buffer.from(await (await fetch(pdf.url)).arrayBuffer()) }
    await sleep(50)
  }
  throw new Error('the proof has no PDF')
}

const ALTO = 600
const MARGIN = 20
/** Places images side by side on a grey background, so that they are visible on white and on black pages. */
async function drawStrip(images: Buffer[]): Promise<Buffer> {
  const layers: OverlayOptions[] = []
  let left = MARGIN
  for (const image of images) {
    const { data, info } = await sharp(image)
      .flatten({ background: '#ffffff' })
      .resize({ height: ALTO })
      .png()
      .toBuffer({ resolveWithObject: true })
    layers.push({ input: data, top: MARGIN, left })
    left += info.width + MARGIN
  }
  const create = { width: left, height: ALTO + 2 * MARGIN, channels: 3 as const, background: '#64748b' }
  return sharp({ create }).composite(layers).png({ palette: true, colours: 96, effort: 10 }).toBuffer()
}

async function renderFirstPage(pdf: Buffer, folder: string): Promise<Buffer> {
  const archivo = join(folder, 'prueba.pdf')
  await writeFile(archivo, pdf)
  await execute('pdftoppm', ['-png', '-singlefile', '-r', '110', archivo, join(folder, 'prueba')])
  return readFile(join(folder, 'prueba.png'))
}

async function illustrate({ dataDir, folder, output, demo }: FreshService) {
  const { command, respuesta, guia } = await readFirstGuia(dataDir)
  const pages = await drawPages(demo, guia)
  // The image shows the default port and folder, as on a reader's screen. It shortens the key, so that it does not look
  // like a leaked secret.
  const shownOutput = output
    .replaceAll(`:${new URL(demo.url).port}`, `:${DEFAULT_PORT}`)
    .replaceAll(dataDir, '.datos')
    .replace(/(guia_test_\w{8})\w+/, '$1…')
  const images = {
    'terminal.svg': terminal([
      {
        command: 'npm start',
        output: shownOutput.slice(shownOutput.indexOf('Guías está listo'), shownOutput.indexOf('Su primera')),
      },
      { command, output: respuesta },
    ]),
    'paginas.png': await drawStrip([...pages.screens, await renderFirstPage(pages.pdf, folder)]),
  }
  let bytes = 0
  for (const [nombre, contenido] of Object.entries(images)) {
    await writeFile(new URL(`docs/${nombre}`, root), contenido)
    bytes += Buffer.byteLength(contenido)
    console.log(`docs/${nombre}`)
  }
  if (bytes > MAX_KB * 1024) throw new Error(`${bytes} bytes: more than ${MAX_KB} KB`)
}

if (NO_BROWSER) throw new Error(NO_BROWSER)
await withFreshService(illustrate)
