/**
 * Contact sheets: every page in each important state. Each page is drawn on a phone in light mode, in dark mode and
 * with letters twice as large, and on a desktop. `npm run ilustrar -- hojas CARPETA` writes them into that folder, for
 * a visual check.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Guia, Guias } from '@guias/sdk'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { motivosDe } from '../../server/domain/estados/estados.ts'
import type { Estado } from '../../server/generado/contrato/tipos/index.ts'
import { conUnTelefono } from '../demo/navegador.ts'
import {
  comoOperador,
  conMosaicos,
  conServicioFresco,
  enlacesDelBuzon,
  esperarMensaje,
  type Fresco,
} from './servicio.ts'

const ejecutar = promisify(execFile)

/** Views in which each page is drawn; images are cut at two screens of height. Widths in pixels. */
const VISTAS = [
  { width: 360, colorScheme: 'light', letra: '' },
  { width: 360, colorScheme: 'dark', letra: '' },
  { width: 360, colorScheme: 'light', letra: '200%' },
  { width: 1_280, colorScheme: 'light', letra: '' },
] as const
const PANTALLA = 740
const ALTO = 2 * PANTALLA
const MARGEN = 24
const RECOGIDA = { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 }
const UNA = {
  telefono: '+50231481676',
  departamento: 'Guatemala',
  municipio: 'San Juan Sacatepéquez',
  destinatario: 'María José Ajú Xicará de la Cruz y Hernández',
  direccion: '2a calle 3-45, zona 1, segundo portón verde después de la iglesia de San Juan Bautista',
  indicaciones: 'Tocar fuerte: el timbre no sirve.',
  contenido: 'Dos blusas bordadas y un corte',
  recogida: RECOGIDA,
}
const CON_LUGAR = { ...UNA, lat: 14.71889, lng: -90.64417 }

/** Sheet of images in rows, one row per state. */
class Hoja {
  readonly #filas: { nombre: string; imagenes: Buffer[] }[] = []

  /** Adds a row with a page's current state in all views. */
  async retratar(nombre: string, pagina: Page): Promise<void> {
    const imagenes = []
    for (const { width, colorScheme, letra } of VISTAS) {
      await pagina.setViewportSize({ width, height: PANTALLA })
      await pagina.emulateMedia({ colorScheme })
      await agrandar(pagina, letra)
      const entera = await pagina.screenshot({ fullPage: true, scale: 'css' })
      const { height } = await sharp(entera).metadata()
      imagenes.push(
        await sharp(entera)
          .extract({ left: 0, top: 0, width, height: Math.min(height, ALTO) })
          .png()
          .toBuffer(),
      )
    }
    await agrandar(pagina, '')
    await pagina.setViewportSize({ width: VISTAS[0].width, height: PANTALLA })
    await pagina.emulateMedia({ colorScheme: 'light' })
    this.#filas.push({ nombre, imagenes })
  }

  /** Adds a row with existing images. */
  agregar(nombre: string, imagenes: Buffer[]): void {
    this.#filas.push({ nombre, imagenes })
  }

  async guardar(archivo: string): Promise<void> {
    const capas = []
    let [ancho, alto] = [0, MARGEN]
    for (const { nombre, imagenes } of this.#filas) {
      const titulo = `<svg width="1200" height="40"><text x="0" y="28" font-family="sans-serif" font-size="26" fill="white">${nombre}</text></svg>`
      capas.push({ input: Buffer.from(titulo), left: MARGEN, top: alto })
      alto += 48
      let [left, fila] = [MARGEN, 0]
      for (const input of imagenes) {
        const { width, height } = await sharp(input).metadata()
        capas.push({ input, left, top: alto })
        left += width + MARGEN
        fila = Math.max(fila, height)
      }
      ancho = Math.max(ancho, left)
      alto += fila + MARGEN
    }
    const create = { width: Math.max(ancho, 1_300), height: alto, channels: 3 as const, background: '#64748b' }
    await writeFile(archivo, await sharp({ create }).composite(capas).png({ palette: true, colours: 128 }).toBuffer())
    console.log(archivo)
  }
}

/**
 * Sets the font size of a page. Uses the DevTools protocol, because the page's Content Security Policy forbids
 * Playwright's scripts.
 */
async function agrandar(pagina: Page, letra: string): Promise<void> {
  const sesion = await pagina.context().newCDPSession(pagina)
  const expression = `document.documentElement.style.fontSize = ${JSON.stringify(letra)}`
  await sesion.send('Runtime.evaluate', { expression })
  await sesion.detach()
}

/** States that lead to each state of a guide, in order. */
const VIDAS: readonly (readonly [nombre: string, ...estados: Estado[]])[] = [
  ['Aceptado'],
  ['Recolectado', 'recolectado'],
  ['En bodega', 'recolectado', 'en_bodega'],
  ['En tránsito', 'recolectado', 'en_bodega', 'en_transito'],
  ['En ruta', 'recolectado', 'en_ruta'],
  ['Intento fallido', 'recolectado', 'en_ruta', 'intento_fallido'],
  ['Entregado', 'recolectado', 'en_ruta', 'entregado'],
  ['En devolución', 'recolectado', 'en_ruta', 'intento_fallido', 'en_devolucion'],
  ['Devuelto', 'recolectado', 'en_ruta', 'intento_fallido', 'en_devolucion', 'devuelto'],
  ['Extraviado', 'recolectado', 'extraviado'],
  ['Cancelado', 'cancelado'],
]

async function vivir(api: Guias, estados: readonly Estado[]): Promise<Guia> {
  const guia = await api.guias.crear(CON_LUGAR)
  for (const estado of estados) {
    const [motivo] = motivosDe(estado)
    if (estado === 'cancelado') await api.guias.cancelar(guia.guia)
    else await api.simulador.avanzar(guia.guia, { estado, ...(motivo ? { motivo } : {}) } as never)
  }
  return guia
}

async function rastreo({ url, demo }: Fresco, pagina: Page): Promise<Hoja> {
  const hoja = new Hoja()
  const api = new Guias({ llave: demo.llave, baseUrl: url })
  await pagina.goto(url)
  await hoja.retratar('/', pagina)
  await pagina.goto(`${url}/r?guia=no+es+un+código`)
  await hoja.retratar('Código que no puede ser', pagina)
  for (const [nombre, ...estados] of VIDAS) {
    const { guia } = await vivir(api, estados)
    await pagina.goto(`${url}/r/${guia}`)
    await hoja.retratar(nombre, pagina)
  }
  await pagina.goto(`${url}/r/000000000000`)
  await hoja.retratar('Código desconocido', pagina)
  return hoja
}

async function paginasDe(pdf: Buffer, carpeta: string, nombre: string): Promise<Buffer[]> {
  const donde = join(carpeta, nombre)
  await mkdir(donde)
  await writeFile(join(donde, 'documento.pdf'), pdf)
  await ejecutar('pdftoppm', ['-png', '-r', '80', join(donde, 'documento.pdf'), join(donde, 'p')])
  const hechas = (await readdir(donde)).filter((una) => una.endsWith('.png')).sort()
  return Promise.all(hechas.map((una) => readFile(join(donde, una))))
}

async function documentos({ url, demo, carpeta }: Fresco): Promise<Hoja> {
  const hoja = new Hoja()
  const api = new Guias({ llave: demo.llave, baseUrl: url })
  const bajar = async (donde: string) => Buffer.from(await (await fetch(donde)).arrayBuffer())
  const guias = await Promise.all([CON_LUGAR, { ...CON_LUGAR, destinatario: 'Ana' }].map((una) => api.guias.crear(una)))
  const etiquetas = await api.guias.etiquetas(guias.map(({ guia }) => guia))
  hoja.agregar('Etiquetas', await paginasDe(await bajar(etiquetas.url), carpeta, 'etiquetas'))
  const { guia } = await vivir(api, ['recolectado', 'en_ruta', 'intento_fallido', 'en_ruta', 'entregado'])
  for (let i = 0; i < 300; i++) {
    const { pdf } = await api.guias.pruebaEntrega(guia)
    if (pdf) {
      hoja.agregar('Prueba de entrega', await paginasDe(await bajar(pdf.url), carpeta, 'prueba'))
      return hoja
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the proof has no PDF')
}

const CALLES = ['5a avenida norte 12', 'Calzada Roosevelt 22-43, zona 11', UNA.direccion, 'Aldea El Carmen, casa azul']

async function repartidor(fresco: Fresco, pagina: Page): Promise<Hoja> {
  const { url, demo } = fresco
  const hoja = new Hoja()
  const api = new Guias({ llave: demo.llave, baseUrl: url })
  const { datos } = await comoOperador<{ datos: { repartidor: string }[] }>(fresco, '/repartidores')
  const { repartidor } = datos[0]!
  const llevar = async (estados: readonly Estado[], i = 2) => {
    const { guia } = await api.guias.crear({
      ...CON_LUGAR,
      direccion: CALLES[i % CALLES.length]!,
      lat: CON_LUGAR.lat + i / 500,
    })
    for (const estado of estados) {
      const [motivo] = motivosDe(estado)
      const toma = ['recolectado', 'en_ruta'].includes(estado) ? { repartidor } : {}
      await comoOperador(fresco, `/guias/${guia}/eventos`, { estado, ...toma, ...(motivo ? { motivo } : {}) })
    }
    return guia
  }
  await pagina.goto(`${url}/repartidor`)
  await pagina.getByLabel('Su código de repartidor').waitFor()
  await hoja.retratar('Entrar', pagina)
  await pagina.getByLabel('Su código de repartidor').fill(demo.codigo_repartidor)
  await pagina.getByRole('button', { name: 'Entrar' }).tap()
  const campo = pagina.getByLabel('Busque, o escriba la guía')
  await campo.waitFor()
  await hoja.retratar('Nada todavía', pagina)
  const ver = async (nombre: string, guia: string) => {
    await pagina.goto(`${url}/repartidor#/guia/${guia}`)
    await pagina.getByText(guia.slice(0, 4)).first().waitFor()
    await pagina.locator('.barra, .pasos, p.suave').first().waitFor()
    await hoja.retratar(nombre, pagina)
  }
  await ver('Por recoger', await llevar([]))
  const enRuta = await llevar(['recolectado', 'en_ruta'])
  await ver('En ruta', enRuta)
  await ver('Vuelve a la tienda', await llevar(['recolectado', 'en_devolucion']))
  for (let i = 0; i < 14; i++) await llevar(i % 3 === 1 ? ['recolectado'] : ['recolectado', 'en_ruta'], i)
  await pagina.goto(`${url}/repartidor`)
  await pagina.reload()
  await pagina.getByText('Calzada Roosevelt').first().waitFor()
  await hoja.retratar('Lo que lleva', pagina)
  await pagina.goto(`${url}/repartidor#/guia/${enRuta}/entregar`)
  await pagina.getByRole('button', { name: 'Confirmar la entrega' }).tap()
  await pagina.locator('[aria-invalid=true]').first().waitFor()
  await hoja.retratar('Faltan datos', pagina)
  await pagina.goto(`${url}/repartidor#/guia/${enRuta}/paso/extraviado`)
  await pagina.getByRole('button').first().waitFor()
  await hoja.retratar('Reportar extravío', pagina)
  return hoja
}

async function destinatario({ url, demo }: Fresco, pagina: Page): Promise<Hoja> {
  const hoja = new Hoja()
  const api = new Guias({ llave: demo.llave, baseUrl: url })
  const vistos = new Set<string>()
  const nueva = async () => {
    // The service sends few location requests per hour to one telephone number, so each guide has another number.
    await api.guias.crear({ ...UNA, telefono: `+5023148167${vistos.size}` })
    const suyo = await esperarMensaje(url, [...vistos])
    vistos.add(suyo)
    await pagina.goto(suyo)
    return aqui.waitFor()
  }
  const aqui = pagina.getByRole('button', { name: 'Estoy ahí ahora' })
  const confirmar = pagina.getByRole('button', { name: 'Confirmar' })
  await nueva()
  await hoja.retratar('Elegir cómo', pagina)
  await aqui.tap()
  await confirmar.waitFor()
  await hoja.retratar('Sin mapa', pagina)
  await conMosaicos(pagina)
  await nueva()
  await aqui.tap()
  await confirmar.waitFor()
  await hoja.retratar('El lugar, antes de confirmarlo', pagina)
  await confirmar.tap()
  await pagina.getByText('Gracias').first().waitFor()
  await hoja.retratar('Gracias', pagina)
  await pagina.context().setGeolocation({ latitude: CON_LUGAR.lat, longitude: CON_LUGAR.lng, accuracy: 1_800 })
  await nueva()
  await aqui.tap()
  await confirmar.waitFor()
  await hoja.retratar('Precisión de 1,8 km', pagina)
  await nueva()
  await pagina.getByRole('button', { name: 'Pegar un enlace de mapa' }).tap()
  await pagina.locator('#enlace').fill('https://example.com/')
  await confirmar.tap()
  await pagina.getByText('no es un mapa admitido').first().waitFor()
  await hoja.retratar('Enlace equivocado', pagina)
  await pagina.context().clearPermissions()
  await nueva()
  await aqui.tap()
  await pagina.getByText('no nos dio permiso').first().waitFor()
  await hoja.retratar('Sin permiso', pagina)
  await pagina.goto(`${url}/u/no-es-un-enlace`)
  await hoja.retratar('Enlace que no existe', pagina)
  return hoja
}

/** SVG of a logo as wide as a company's name, which takes the most room. */
const LOGO_ANCHO = `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="120"><rect width="900" height="120" rx="24" fill="#8a1538"/><text x="40" y="84" font-family="sans-serif" font-weight="bold" font-size="72" fill="#fff">ENVÍOS DEL ALTIPLANO</text></svg>`

/** Draws the pages of a brand with a wide logo. */
async function dibujarConLogoAncho(fresco: Fresco, carpeta: string): Promise<void> {
  const { url, demo } = fresco
  const api = new Guias({ llave: demo.llave, baseUrl: url })
  const hoja = new Hoja()
  const { guia } = await vivir(api, ['recolectado', 'en_ruta', 'entregado'])
  const vistos = await enlacesDelBuzon(url)
  await api.guias.crear(UNA)
  const enlace = await esperarMensaje(url, vistos)
  await conUnTelefono({ latitude: CON_LUGAR.lat, longitude: CON_LUGAR.lng, accuracy: 8 }, async (pagina) => {
    for (const ruta of ['/', `/r/${guia}`, `/verificar/${guia}`, '/repartidor', '/docs/consola', '/docs', enlace]) {
      await pagina.goto(new URL(ruta, url).href, { waitUntil: 'networkidle' })
      await hoja.retratar(new URL(ruta, url).pathname.replace(/u\/.*/, 'u/…'), pagina)
    }
  })
  await hoja.guardar(join(carpeta, 'logo-ancho.png'))
}

/** Starts a service with a brand whose logo is wide, and draws its pages into a folder. */
export async function dibujarMarca(carpeta: string): Promise<void> {
  const logo = join(await mkdtemp(join(tmpdir(), 'guias-logo-')), 'ancho.svg')
  await writeFile(logo, LOGO_ANCHO)
  const marca = {
    BRAND_NAME: 'Envíos del Altiplano',
    BRAND_LOGO: logo,
    BRAND_COLOR: '#8a1538',
    SUPPORT_PHONE: '+50223456789',
  }
  await conServicioFresco((fresco) => dibujarConLogoAncho(fresco, carpeta), marca)
}

/**
 * Draws all contact sheets.
 * @param carpeta folder for the sheets
 */
export async function dibujarHojas(fresco: Fresco, carpeta: string): Promise<void> {
  await mkdir(carpeta, { recursive: true })
  const donde = { latitude: CON_LUGAR.lat, longitude: CON_LUGAR.lng, accuracy: 8 }
  for (const [nombre, hacer] of Object.entries({ destinatario, rastreo, repartidor }))
    await conUnTelefono(donde, async (pagina) => (await hacer(fresco, pagina)).guardar(join(carpeta, `${nombre}.png`)))
  await (await documentos(fresco)).guardar(join(carpeta, 'documentos.png'))
}
