import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { conUnTelefono, SIN_NAVEGADOR } from './navegador.ts'

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
export function entregarComoRepartidor(reparto: Reparto): Promise<{ como: string; mientras: string }> {
  return SIN_NAVEGADOR ? entregarSinPagina(reparto) : entregarEnLaPagina(reparto)
}

function entregarEnLaPagina({ url, codigo, guia, lat, lng, estado }: Reparto) {
  return conUnTelefono({ latitude: lat, longitude: lng, accuracy: 8 }, async (pagina, contexto) => {
    const boton = (name: string) => pagina.getByRole('button', { name })
    await pagina.goto(`${url}/repartidor`)
    await pagina.getByLabel('Su código de repartidor').fill(codigo)
    await boton('Entrar').tap()
    await salirARuta(pagina, guia)
    const entregar = pagina.getByRole('link', { name: 'Entregar', exact: true })
    await entregar.waitFor()
    // The page's Content Security Policy forbids Playwright's `evaluate()`, so the script uses the DevTools protocol.
    const consola = await contexto.newCDPSession(pagina)
    await consola.send('Runtime.evaluate', { expression: 'navigator.serviceWorker.ready', awaitPromise: true })

    await contexto.setOffline(true)
    await pagina.reload()
    await pagina.getByText('Sin cobertura.').waitFor()
    await entregar.tap()
    await pagina.locator('input[type=file]').setInputFiles(fileURLToPath(FOTO))
    await pagina.getByAltText('Foto 1').waitFor()
    await pagina.getByLabel('Nombre').fill('María José Ajú')
    await pagina.getByLabel('Quién es').selectOption('destinatario')
    await firmar(pagina)
    await pagina.getByText('precisión de unos 8 m').waitFor()
    await boton('Confirmar la entrega').tap()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    await pagina.reload()
    await pagina.getByText('Entregado (por enviar)').waitFor()
    const mientras = await estado()

    const vuelta = performance.now()
    await contexto.setOffline(false)
    await pagina.getByText('(por enviar)').waitFor({ state: 'detached' })
    const segundos = ((performance.now() - vuelta) / 1000).toFixed(1)
    return {
      como: `en Chromium, recargada sin cobertura, enviada a los ${segundos} s de haberla`,
      mientras,
    }
  })
}

type Pagina = Parameters<Parameters<typeof conUnTelefono>[1]>[0]

/** Enters a guide's code on the search screen and sets the guide to `en_ruta`. Ends on the guide's full view. */
export async function salirARuta(pagina: Pagina, guia: string) {
  await pagina.getByRole('link', { name: 'Buscar' }).tap()
  await pagina.getByLabel('Código, nombre o dirección').fill(guia)
  await pagina.getByRole('button', { name: 'Abrir' }).tap()
  await pagina.getByRole('link', { name: 'Salir a ruta' }).tap()
  await pagina.getByRole('button', { name: 'Registrar' }).tap()
  await pagina.getByRole('heading', { name: 'En ruta' }).waitFor()
  await pagina.locator('a.codigo').tap()
  await pagina.getByRole('link', { name: 'Llamar' }).waitFor()
}

/** Draws a signature on the canvas of the delivery form. */
export async function firmar(pagina: Pagina) {
  const lienzo = pagina.locator('canvas.firma')
  await lienzo.scrollIntoViewIfNeeded()
  const { x, y, width, height } = (await lienzo.boundingBox())!
  await pagina.mouse.move(x + width * 0.1, y + height * 0.6)
  await pagina.mouse.down()
  for (let i = 0; i <= 40; i++) {
    const t = i / 40
    await pagina.mouse.move(x + width * (0.1 + 0.75 * t), y + height * (0.55 - 0.3 * Math.sin(t * 19) * (1 - t / 2)))
  }
  await pagina.mouse.up()
}

/** Delivers with the requests that the page would send. */
async function entregarSinPagina({ url, codigo, guia, lat, lng, estado }: Reparto) {
  const pedir = async (ruta: string, tipo: string, body: string | Buffer, cookie = '') => {
    const headers = { Origin: url, 'Content-Type': tipo, Cookie: cookie }
    const respuesta = await fetch(`${url}/repartidor/v1/${ruta}`, { method: 'POST', headers, body })
    if (respuesta.status !== 201) throw new Error(`${ruta}: ${await respuesta.text()}`)
    return { cabeceras: respuesta.headers, datos: (await respuesta.json()) as { archivo: string } }
  }
  const { cabeceras } = await pedir('sesion', 'application/json', JSON.stringify({ codigo }))
  const cookie = cabeceras.getSetCookie()[0]!.split(';')[0]!
  const salida = { estado: 'en_ruta', idempotencia: crypto.randomUUID() }
  await pedir(`guias/${guia}/eventos`, 'application/json', JSON.stringify(salida), cookie)
  const subir = async (archivo: URL, tipo: string, mime: string) =>
    (await pedir(`guias/${guia}/archivos?tipo=${tipo}`, mime, await readFile(archivo), cookie)).datos.archivo
  const cuerpo = {
    recibido_por: { nombre: 'María José Ajú', relacion: 'destinatario' },
    fotos: [await subir(FOTO, 'foto', 'image/jpeg')],
    firma: await subir(FIRMA, 'firma', 'image/png'),
    lat,
    lng,
    precision_m: 8,
    ocurrido_en: new Date().toISOString(),
    idempotencia: crypto.randomUUID(),
  }
  const mientras = await estado()
  await pedir(`guias/${guia}/entrega`, 'application/json', JSON.stringify(cuerpo), cookie)
  return { como: `${SIN_NAVEGADOR}, con las mismas solicitudes`, mientras }
}
