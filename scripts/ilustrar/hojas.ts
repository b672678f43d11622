/**
 * Contact sheets: every page in each important state. The views are a phone and a desktop, light and dark, and a phone
 * with letters twice as large. `npm run ilustrar -- hojas CARPETA` writes the sheets and each image into that folder, for
 * a visual check.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Guias } from '@guias/sdk'
import type { Page } from 'playwright-core'
import { motivosDe } from '../../server/domain/estados/estados.ts'
import type { Estado } from '../../server/generado/contrato/tipos/index.ts'
import { conUnTelefono } from '../demo/navegador.ts'
import { CON_LUGAR, UNA, vivir } from './escenas.ts'
import { Hoja } from './hoja.ts'
import { decision, otras, pruebaDe, verificacion } from './otras.ts'
import {
  comoOperador,
  conMosaicos,
  conServicioFresco,
  enlacesDelBuzon,
  esperarMensaje,
  type Fresco,
} from './servicio.ts'

const ejecutar = promisify(execFile)

/** States through which a guide passes to reach each state, in order. */
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
  hoja.agregar('Prueba de entrega', await paginasDe(await pruebaDe(api, guia), carpeta, 'prueba'))
  return hoja
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
  await pagina.getByRole('link', { name: 'Escanear' }).waitFor()
  await hoja.retratar('Nada todavía', pagina)
  const asignadas = [await llevar([]), await llevar([], 1)]
  await comoOperador(fresco, '/asignaciones', { guias: asignadas, repartidor })
  await pagina.reload()
  await pagina.getByText('Asignados (2)').waitFor()
  await pagina.locator('.municipio summary').first().tap()
  await hoja.retratar('Asignados', pagina)
  await comoOperador(fresco, '/asignaciones/retirar', { guias: asignadas })
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
  await hoja.retratar('Siguiente parada', pagina)
  await pagina.context().setGeolocation({ latitude: CON_LUGAR.lat, longitude: CON_LUGAR.lng, accuracy: 8 })
  await pagina.getByText('Ya está aquí').waitFor()
  await hoja.retratar('En la puerta', pagina)
  for (const [nombre, ruta] of Object.entries({ Buscar: 'buscar', Marcar: 'marcar', Más: 'mas', Hecho: 'hoy' })) {
    await pagina.goto(`${url}/repartidor#/${ruta}`)
    await pagina.getByRole('link', { name: 'Inicio' }).waitFor()
    await hoja.retratar(nombre, pagina)
  }
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

/** SVG of a very wide logo, which needs the most room on a page. */
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
  await hoja.guardar(carpeta, 'logo-ancho')
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
  for (const [nombre, hacer] of Object.entries({ destinatario, decision, rastreo, verificacion, otras, repartidor }))
    await conUnTelefono(donde, async (pagina) => (await hacer(fresco, pagina)).guardar(carpeta, nombre))
  await (await documentos(fresco)).guardar(carpeta, 'documentos')
}
