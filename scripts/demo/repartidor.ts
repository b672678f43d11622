import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { NO_BROWSER, withPhone } from './browser.ts'

const FOTO = new URL('../../server/domain/simulador/muestras/foto.jpg', import.meta.url)
const FIRMA = new URL('../../server/domain/simulador/muestras/firma.png', import.meta.url)

/** Delivery that the courier makes. The guide must be in the state `recolectado`. */
export interface Reparto {
  url: string
  /** Code with which the courier signs in. */
  codigo: string
  guia: string
  lat: number
  lng: number
  /** Returns the state of the guide in the service. Called while the phone has no coverage. */
  estado: () => Promise<string>
}

/**
 * Delivers a guide without coverage, and sends the delivery when the phone is online again.
 * @returns description of the way used, in Spanish, and the state that `estado` returned meanwhile
 */
export function deliverAsRepartidor(delivery: Reparto): Promise<{ usedMethod: string; meanwhile: string }> {
  return NO_BROWSER ? deliverByRequests(delivery) : deliverOnPage(delivery)
}

function deliverOnPage({ url, codigo, guia, lat, lng, estado }: Reparto) {
  return withPhone({ latitude: lat, longitude: lng, accuracy: 8 }, async (page, context) => {
    const button = (name: string) => page.getByRole('button', { name })
    await page.goto(`${url}/repartidor`)
    await page.getByLabel('Su código de repartidor').fill(codigo)
    await button('Entrar').tap()
    await startRoute(page, guia)
    const deliverLink = page.getByRole('link', { name: 'Entregar', exact: true })
    await deliverLink.waitFor()
    // The page's Content Security Policy forbids Playwright's `evaluate()`, so the script uses the DevTools protocol.
    const session = await context.newCDPSession(page)
    await session.send('Runtime.evaluate', { expression: 'navigator.serviceWorker.ready', awaitPromise: true })

    await context.setOffline(true)
    await page.reload()
    await page.getByText('Sin cobertura.').waitFor()
    await deliverLink.tap()
    await page.locator('input[type=file]').setInputFiles(fileURLToPath(FOTO))
    await page.getByAltText('Foto 1').waitFor()
    await button('Seguir').tap()
    await page.getByLabel('Nombre').fill('María José Ajú')
    await page.getByLabel('Quién es').selectOption('destinatario')
    await button('Seguir').tap()
    await drawSignature(page)
    await button('Seguir').tap()
    await page.getByText('precisión de unos 8 m').waitFor()
    await button('Confirmar la entrega').tap()
    await page.getByText('Por enviar:').waitFor()
    await page.reload()
    await page.getByText('Por enviar:').waitFor()
    const meanwhile = await estado()

    const onlineAt = performance.now()
    await context.setOffline(false)
    await page.getByText('Por enviar:').waitFor({ state: 'detached' })
    const seconds = ((performance.now() - onlineAt) / 1000).toFixed(1)
    return {
      usedMethod: `en Chromium, recargada sin cobertura, enviada a los ${seconds} s de haberla`,
      meanwhile,
    }
  })
}

type PhonePage = Parameters<Parameters<typeof withPhone>[1]>[0]

/** Enters a guide's code on the search screen and sets the guide to `en_ruta`. Ends on the guide's full view. */
export async function startRoute(page: PhonePage, guia: string) {
  await page.getByRole('link', { name: 'Buscar' }).tap()
  await page.getByLabel('Código, teléfono o nombre').fill(guia)
  await page.getByRole('button', { name: 'Abrir' }).tap()
  await page.getByRole('link', { name: 'Salir a ruta' }).tap()
  await page.getByRole('button', { name: 'Registrar' }).tap()
  await page.getByRole('heading', { name: 'En ruta' }).waitFor()
  await page.locator('a.codigo').tap()
  await page.getByRole('link', { name: 'Llamar' }).waitFor()
}

/** Draws a signature on the canvas of the delivery form. */
export async function drawSignature(page: PhonePage) {
  const canvas = page.locator('canvas.firma')
  await canvas.scrollIntoViewIfNeeded()
  const { x, y, width, height } = (await canvas.boundingBox())!
  await page.mouse.move(x + width * 0.1, y + height * 0.6)
  await page.mouse.down()
  for (let i = 0; i <= 40; i++) {
    const t = i / 40
    await page.mouse.move(x + width * (0.1 + 0.75 * t), y + height * (0.55 - 0.3 * Math.sin(t * 19) * (1 - t / 2)))
  }
  await page.mouse.up()
}

/** Delivers with the requests that the page would send. */
async function deliverByRequests({ url, codigo, guia, lat, lng, estado }: Reparto) {
  const request = async (path: string, type: string, body: string | Buffer, cookie = '') => {
    const headers = { Origin: url, 'Content-Type': type, Cookie: cookie }
    const response = await fetch(`${url}/repartidor/v1/${path}`, { method: 'POST', headers, body })
    if (response.status !== 201) throw new Error(`${path}: ${await response.text()}`)
    return { headers: response.headers, datos: (await response.json()) as { archivo: string } }
  }
  const { headers: cabeceras } = await request('sesion', 'application/json', JSON.stringify({ codigo }))
  const cookie = cabeceras.getSetCookie()[0]!.split(';')[0]!
  const departure = { estado: 'en_ruta', idempotencia: crypto.randomUUID() }
  await request(`guias/${guia}/eventos`, 'application/json', JSON.stringify(departure), cookie)
  const upload = async (file: URL, type: string, mime: string) =>
    (await request(`guias/${guia}/archivos?tipo=${type}`, mime, await readFile(file), cookie)).datos.archivo
  const cuerpo = {
    recibido_por: { nombre: 'María José Ajú', relacion: 'destinatario' },
    fotos: [await upload(FOTO, 'foto', 'image/jpeg')],
    firma: await upload(FIRMA, 'firma', 'image/png'),
    lat,
    lng,
    precision_m: 8,
    ocurrido_en: new Date().toISOString(),
    idempotencia: crypto.randomUUID(),
  }
  const meanwhile = await estado()
  await request(`guias/${guia}/entrega`, 'application/json', JSON.stringify(cuerpo), cookie)
  return { usedMethod: `${NO_BROWSER}, con las mismas solicitudes`, meanwhile }
}
