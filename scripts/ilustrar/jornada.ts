/** Records a working day of an office and two couriers as screenshots, with real browsers and a fresh service. */
import { randomUUID } from 'node:crypto'
import { Guias } from '@guias/sdk'
import { generate } from 'otplib'
import { type Browser, type BrowserContextOptions, chromium, devices, type Page } from 'playwright-core'
import { firmar } from '../demo/repartidor.ts'
import { ARGUMENTOS, buscarNavegador } from '../navegador.ts'
import { FOTO, UNA } from './escenas.ts'
import { Hoja } from './hoja.ts'
import { comoOperador, conMosaicos, type Fresco } from './servicio.ts'

/** Number of parcels of the day, and how many of them have no known location yet. */
const PAQUETES = 200
const SIN_LUGAR = 8
const NOMBRES = ['María José Ajú', 'Rosa Tum', 'Juan Batz', 'Wendy Xol', 'Pedro Caal', 'Ana Lucía Pop', 'José Chub']
const MUNICIPIOS = ['Mixco', 'Villa Nueva', 'San Juan Sacatepéquez', 'Guatemala', 'Santa Catarina Pinula']
const AQUI = { latitude: 14.634, longitude: -90.506, accuracy: 8 }
/** Maximum events that a courier's page sends in one request. */
const POR_SOLICITUD = 50

interface Repartidor {
  repartidor: string
  codigo: string
}

const lugarDe = (i: number): { lat: number | undefined; lng: number | undefined } =>
  i < PAQUETES - SIN_LUGAR
    ? { lat: 14.6 + (i % 20) * 0.004, lng: -90.55 + (i % 17) * 0.004 }
    : { lat: undefined, lng: undefined }

/** Returns guides of different recipients. The last ones have no known location. */
const paquetes = () =>
  Array.from({ length: PAQUETES }, (_, i) => ({
    ...UNA,
    ...lugarDe(i),
    telefono: `+5025550${String(1_000 + i)}`,
    destinatario: `${NOMBRES[i % NOMBRES.length]} ${i + 1}`,
    municipio: MUNICIPIOS[i % MUNICIPIOS.length]!,
    direccion: `${1 + (i % 20)}a calle ${i}-10, zona ${1 + (i % 12)}`,
    external_ref: `PEDIDO-${i + 1}`,
  }))

async function abrir(navegador: Browser, opciones: BrowserContextOptions): Promise<Page> {
  const contexto = await navegador.newContext({ locale: 'es-GT', timezoneId: 'America/Guatemala', ...opciones })
  return contexto.newPage()
}

/** Signs a new person in to the office, with an app for codes. */
async function entrarALaOficina(fresco: Fresco, pagina: Page): Promise<void> {
  const alcances = ['ver', 'operar', 'administrar']
  const ana = { correo: 'ana@ejemplo.com', nombre: 'Ana Pérez', alcances }
  const { codigo } = await comoOperador<{ codigo: string }>(fresco, '/invitaciones', ana)
  const buzon = await (await fetch(`${fresco.url}/buzon`)).text()
  await pagina.goto(`${fresco.url}/invitacion/${/invitacion\/([\w-]+)/.exec(buzon)![1]}`)
  await pagina.getByLabel('Código que le dio quien le invitó').fill(codigo)
  await pagina.getByRole('button', { name: 'Aceptar y entrar' }).click()
  await pagina.getByRole('button', { name: 'Usar una app de códigos' }).click()
  const secret = (await pagina.locator('.clave').textContent())!.replaceAll(' ', '')
  await pagina.getByLabel('Seis cifras de la app').fill(await generate({ secret }))
  await pagina.getByRole('button', { name: 'Confirmar' }).click()
  await pagina.getByRole('heading', { name: 'Sus códigos de recuperación' }).waitFor()
}

/** Reports a step for many guides, as the page on a courier's phone does. */
async function reportar(pagina: Page, guias: readonly string[], estado: string): Promise<void> {
  for (let i = 0; i < guias.length; i += POR_SOLICITUD) {
    const eventos = guias
      .slice(i, i + POR_SOLICITUD)
      .map((guia) => ({ guia, evento: { estado, idempotencia: randomUUID() } }))
    const respuesta = await pagina.request.post('/repartidor/v1/eventos', {
      data: { eventos },
      headers: { 'Sec-Fetch-Site': 'same-origin' },
    })
    if (!respuesta.ok()) throw new Error(await respuesta.text())
    const { resultados } = (await respuesta.json()) as { resultados: { ok: boolean }[] }
    const negado = resultados.find(({ ok }) => !ok)
    if (negado) throw new Error(JSON.stringify(negado))
  }
}

/**
 * Browser windows of the day: the office and the couriers' phones. Each scene adds a row of screenshots to the sheet.
 */
class Jornada {
  readonly hoja = new Hoja()
  readonly #url: string
  readonly oficina: Page
  readonly telefonos: readonly Page[]

  constructor(url: string, oficina: Page, telefonos: readonly Page[]) {
    this.#url = url
    this.oficina = oficina
    this.telefonos = telefonos
  }

  /** Adds a scene: the office's window, and the phones that show something new. */
  async escena(nombre: string, ...telefonos: readonly Page[]): Promise<void> {
    const imagenes: Buffer[] = []
    for (const pagina of [this.oficina, ...telefonos]) imagenes.push(await pagina.screenshot({ scale: 'css' }))
    this.hoja.agregar(nombre, imagenes)
    console.log(nombre)
  }

  ir = (ruta: string) => this.oficina.goto(`${this.#url}/central${ruta}`, { waitUntil: 'networkidle' })

  /** Takes an action on the page of a guide: opens its form, fills it in and sends it. */
  async hacer(guia: string, accion: string, campos: Readonly<Record<string, string>>): Promise<void> {
    await this.ir(`/guias/${guia}`)
    await this.oficina.locator('summary', { hasText: accion }).click()
    const formulario = this.oficina.locator('details[open]')
    for (const [campo, valor] of Object.entries(campos)) {
      const control = formulario.getByLabel(campo)
      if (await control.evaluate((uno) => uno.tagName === 'SELECT').catch(() => false))
        await control.selectOption({ label: valor })
      else await control.fill(valor)
    }
    await formulario.getByRole('button', { name: accion }).click()
    await this.oficina.locator('[role=status]').first().waitFor()
  }
}

const boton = (pagina: Page, name: string | RegExp) => pagina.getByRole('button', { name })
const enlace = (pagina: Page, name: string | RegExp) => pagina.getByRole('link', { name }).first()

async function entrarAlReparto(pagina: Page, { codigo }: Repartidor): Promise<void> {
  await pagina.goto('/repartidor')
  await pagina.getByLabel('Su código de repartidor').fill(codigo)
  await boton(pagina, 'Entrar').tap()
  await enlace(pagina, 'Escanear').waitFor()
}

async function entregarLaSiguiente(pagina: Page): Promise<void> {
  await pagina.getByRole('link', { name: 'Entregar', exact: true }).first().tap()
  await pagina.locator('input[type=file]').setInputFiles(FOTO)
  await pagina.getByAltText('Foto 1').waitFor()
  await pagina.getByLabel('Nombre').fill('Rosa Tum')
  await pagina.getByLabel('Quién es').selectOption('familiar')
  await firmar(pagina)
  await boton(pagina, 'Confirmar la entrega').tap()
  const hecha = pagina.getByRole('heading', { name: 'Entregada' })
  const aunqueLejos = boton(pagina, 'Entregar aquí')
  await hecha.or(aunqueLejos).waitFor()
  if (await aunqueLejos.isVisible()) await aunqueLejos.tap()
  await hecha.waitFor()
}

async function fallarUna(pagina: Page): Promise<void> {
  await enlace(pagina, /calle/).tap()
  await enlace(pagina, 'No se pudo entregar').tap()
  await pagina.getByText('No había nadie').tap()
  await boton(pagina, 'Registrar').tap()
  await pagina.locator('.palomita').waitFor()
}

const alInicio = async (pagina: Page) => {
  await pagina.goto('/repartidor#/')
  await enlace(pagina, 'Escanear').waitFor()
}

/** Acts a working day of an office and two couriers, and writes a sheet of all its screenshots. */
export async function filmarJornada(fresco: Fresco, carpeta: string): Promise<void> {
  const { url } = fresco
  const { comercio } = await comoOperador<{ comercio: string }>(fresco, '/comercios', { nombre: 'La Ceiba' })
  const { llave } = await comoOperador<{ llave: string }>(fresco, `/comercios/${comercio}/llaves`, { modo: 'live' })
  const api = new Guias({ llave, baseUrl: url })
  const repartidores: Repartidor[] = []
  for (const nombre of ['Carlos Méndez', 'Luisa Chub'])
    repartidores.push(await comoOperador(fresco, '/repartidores', { nombre, telefono: '+50255512233' }))
  const navegador = await chromium.launch({ executablePath: buscarNavegador()!, args: ARGUMENTOS })
  try {
    const oficina = await abrir(navegador, { viewport: { width: 1_440, height: 900 } })
    const telefonos: Page[] = []
    for (const _uno of repartidores) {
      const opciones = { ...devices['Galaxy S9+'], viewport: { width: 360, height: 740 }, baseURL: url }
      telefonos.push(await abrir(navegador, { ...opciones, permissions: ['geolocation'], geolocation: AQUI }))
    }
    for (const pagina of [oficina, ...telefonos]) await conMosaicos(pagina)
    await entrarALaOficina(fresco, oficina)
    const dia = new Jornada(url, oficina, telefonos)
    await vivirElDia(dia, fresco, api, repartidores)
    await dia.hoja.guardar(carpeta, 'jornada')
  } finally {
    await navegador.close()
  }
}

async function vivirElDia(dia: Jornada, fresco: Fresco, api: Guias, repartidores: readonly Repartidor[]) {
  const [carlos, luisa] = dia.telefonos as [Page, Page]
  const guias: string[] = []
  const todos = paquetes()
  for (let i = 0; i < PAQUETES; i += 100) {
    const { resultados } = await api.guias.crearLote({ guias: todos.slice(i, i + 100) })
    guias.push(...resultados.flatMap((uno) => (uno.ok ? [uno.guia] : [])))
  }
  const mitad = PAQUETES / 2
  const deCarlos = guias.slice(0, mitad)
  const deLuisa = guias.slice(mitad)
  await dia.ir('')
  await dia.escena('07:00 La tienda registró 200 paquetes')

  for (const [i, suyas] of [deCarlos, deLuisa].entries())
    await comoOperador(fresco, '/asignaciones', { guias: suyas, repartidor: repartidores[i]!.repartidor })
  for (const [i, pagina] of dia.telefonos.entries()) await entrarAlReparto(pagina, repartidores[i]!)
  await dia.ir('/reparto')
  await dia.escena('07:15 Asignados, antes de escanear', carlos, luisa)

  await dia.hacer(deLuisa[3]!, 'Corregir los datos', { Dirección: '5a avenida 12-40, zona 4', 'Por qué': 'Se mudó' })
  await dia.escena('07:30 Corregir una dirección antes de salir')

  await reportar(carlos, deCarlos, 'recolectado')
  await reportar(luisa, deLuisa.slice(0, mitad - SIN_LUGAR), 'recolectado')
  for (const pagina of dia.telefonos) await pagina.reload()
  await boton(carlos, /Salir a ruta/)
    .or(enlace(carlos, /Salir a ruta/))
    .first()
    .waitFor()
  await dia.ir('/reparto')
  await dia.escena('08:00 Recogidos en la bodega', carlos, luisa)

  await reportar(carlos, deCarlos, 'en_ruta')
  await reportar(luisa, deLuisa.slice(0, mitad - SIN_LUGAR), 'en_ruta')
  for (const pagina of dia.telefonos) await pagina.reload()
  await carlos.getByRole('link', { name: 'Entregar', exact: true }).first().waitFor()
  await dia.ir('')
  await dia.escena('08:30 En ruta', carlos, luisa)

  await dia.hacer(guias.at(-1)!, 'Poner el lugar', {
    'Coordenadas o enlace de mapa': '14.6405, -90.5133',
    'Por qué': 'Llamó la clienta',
  })
  await dia.escena('09:00 Una clienta llama: dónde vive')

  await entregarLaSiguiente(carlos)
  await alInicio(carlos)
  await fallarUna(luisa)
  await alInicio(luisa)
  const fallida = await esperarEstado(fresco, 'intento_fallido')
  await dia.ir('')
  await dia.escena('10:00 Una entrega y un intento fallido', carlos, luisa)
  await dia.hacer(fallida, 'Llevarlo otra vez', { 'Por qué': 'Pidió por la tarde' })
  await dia.escena('10:10 Decidir otro intento')

  const entregada = await esperarEstado(fresco, 'entregado')
  await dia.ir(`/guias/${entregada}`)
  await dia.escena('10:30 La prueba de una entrega')
  await dia.hacer(entregada, 'Deshacer el último estado', { 'Por qué fue un error': 'Era del vecino' })
  await dia.escena('10:40 Se entregó al vecino: deshacer')
  await dia.hacer(entregada, 'Nota de la central', { Nota: 'Carlos vuelve por el paquete a las 11.' })
  await dia.escena('10:45 Nota para el turno de la tarde')

  for (let i = 0; i < 3; i++) {
    await entregarLaSiguiente(carlos)
    await alInicio(carlos)
  }
  await dia.ir('/reparto')
  await dia.escena('12:00 Quién lleva qué', carlos, luisa)
  await dia.ir('/guias?q=wendi+xol')
  await dia.escena('15:00 Llama una tienda: buscar por nombre')
  await dia.ir('')
  await dia.escena('18:00 Lo que queda del día', carlos, luisa)
}

/** Waits for a guide in that state and returns its code. @throws after about 20 s */
async function esperarEstado(fresco: Fresco, estado: string): Promise<string> {
  for (let i = 0; i < 200; i++) {
    const { datos } = await comoOperador<{ datos: { guia: string }[] }>(fresco, `/guias?estado=${estado}&modo=live`)
    if (datos[0]) return datos[0].guia
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`no guide came to ${estado}`)
}
