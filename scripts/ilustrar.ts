/**
 * Entry point of `npm run ilustrar`: makes the README's images and writes them to `docs/`. They show what a new user
 * does: `npm start` with fresh data, the README's own `curl`, and a delivery in the courier's page. Needs Chromium and
 * poppler's `pdftoppm`.
 */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as esperar } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Guia, Guias } from '@guias/sdk'
import sharp, { type OverlayOptions } from 'sharp'
import { conUnTelefono, SIN_NAVEGADOR } from './demo/navegador.ts'
import { firmar, salirARuta } from './demo/repartidor.ts'
import { conServicioFresco, type Demo, type Fresco } from './ilustrar/servicio.ts'
import { terminal } from './ilustrar/terminal.ts'

const ejecutar = promisify(execFile)
const raiz = new URL('../', import.meta.url)
const FOTO = fileURLToPath(new URL('server/domain/simulador/muestras/foto.jpg', raiz))
const MAXIMO_KB = 150
/** Default port of the service, which the images show instead of the actual one. */
const PUERTO = 3000

/** Creates the first guide with the README's own command. */
async function primeraGuia(dataDir: string) {
  const leeme = await readFile(new URL('README.md', raiz), 'utf8')
  const [, orden = ''] = /^```bash\n(GUIAS_URL=[\s\S]*?)\n```$/m.exec(leeme) ?? []
  const { stdout } = await ejecutar('bash', ['-ec', orden.replaceAll('./.datos', dataDir)])
  return { orden, respuesta: stdout, guia: JSON.parse(stdout) as Guia }
}

async function conPaginas({ url, llave_operaciones, codigo_repartidor, llave }: Demo, guia: Guia) {
  const respuesta = await fetch(`${url}/operaciones/v1/guias/${guia.guia}/eventos`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${llave_operaciones}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ estado: 'recolectado' }),
  })
  if (respuesta.status !== 201) throw new Error(await respuesta.text())
  const donde = { latitude: guia.lat! + 0.0001, longitude: guia.lng!, accuracy: 8 }
  const pantallas = await conUnTelefono(donde, async (pagina) => {
    const boton = (name: string) => pagina.getByRole('button', { name })
    await pagina.setViewportSize({ width: 390, height: 800 })
    await pagina.goto(`${url}/repartidor`)
    await pagina.getByLabel('Su código de repartidor').fill(codigo_repartidor)
    await boton('Entrar').tap()
    await salirARuta(pagina, guia.guia)
    await pagina.getByRole('link', { name: 'Entregar', exact: true }).tap()
    await pagina.locator('input[type=file]').setInputFiles(FOTO)
    await pagina.getByAltText('Foto 1').waitFor()
    await pagina.getByLabel('Nombre').fill('María José Ajú')
    await pagina.getByLabel('Quién es').selectOption('destinatario')
    await firmar(pagina)
    await pagina.getByText('precisión de unos 8 m').waitFor()
    const entregando = await pagina.screenshot()
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Entregado', { exact: false }).first().waitFor()
    await pagina.getByText('(por enviar)').waitFor({ state: 'detached' })
    await pagina.goto(`${url}/r/${guia.guia}`)
    return [entregando, await pagina.screenshot()]
  })
  const api = new Guias({ llave, baseUrl: url })
  for (let i = 0; i < 200; i++) {
    const { pdf } = await api.guias.pruebaEntrega(guia.guia)
    if (pdf) return { pantallas, pdf: Buffer.from(await (await fetch(pdf.url)).arrayBuffer()) }
    await esperar(50)
  }
  throw new Error('the proof has no PDF')
}

const ALTO = 600
const MARGEN = 20
/** Places images side by side on a grey background, so that they are visible on white and on black pages. */
async function tira(imagenes: Buffer[]): Promise<Buffer> {
  const capas: OverlayOptions[] = []
  let left = MARGEN
  for (const imagen of imagenes) {
    const { data, info } = await sharp(imagen)
      .flatten({ background: '#ffffff' })
      .resize({ height: ALTO })
      .png()
      .toBuffer({ resolveWithObject: true })
    capas.push({ input: data, top: MARGEN, left })
    left += info.width + MARGEN
  }
  const create = { width: left, height: ALTO + 2 * MARGEN, channels: 3 as const, background: '#64748b' }
  return sharp({ create }).composite(capas).png({ palette: true, colours: 96, effort: 10 }).toBuffer()
}

async function primeraPagina(pdf: Buffer, carpeta: string): Promise<Buffer> {
  const archivo = join(carpeta, 'prueba.pdf')
  await writeFile(archivo, pdf)
  await ejecutar('pdftoppm', ['-png', '-singlefile', '-r', '110', archivo, join(carpeta, 'prueba')])
  return readFile(join(carpeta, 'prueba.png'))
}

async function ilustrar({ dataDir, carpeta, salida, demo }: Fresco) {
  const { orden, respuesta, guia } = await primeraGuia(dataDir)
  const paginas = await conPaginas(demo, guia)
  // The image shows the default port and folder, as on a reader's screen. It shortens the key, so that it does not look
  // like a leaked secret.
  const vista = salida
    .replaceAll(`:${new URL(demo.url).port}`, `:${PUERTO}`)
    .replaceAll(dataDir, '.datos')
    .replace(/(guia_test_\w{8})\w+/, '$1…')
  const imagenes = {
    'terminal.svg': terminal([
      {
        orden: 'npm start',
        salida: vista.slice(vista.indexOf('Guías está listo'), vista.indexOf('Su primera')),
      },
      { orden, salida: respuesta },
    ]),
    'paginas.png': await tira([...paginas.pantallas, await primeraPagina(paginas.pdf, carpeta)]),
  }
  let bytes = 0
  for (const [nombre, contenido] of Object.entries(imagenes)) {
    await writeFile(new URL(`docs/${nombre}`, raiz), contenido)
    bytes += Buffer.byteLength(contenido)
    console.log(`docs/${nombre}`)
  }
  if (bytes > MAXIMO_KB * 1024) throw new Error(`${bytes} bytes: more than ${MAXIMO_KB} KB`)
}

if (SIN_NAVEGADOR) throw new Error(SIN_NAVEGADOR)
await conServicioFresco(ilustrar)
