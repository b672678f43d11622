/** Simulates the daily tasks of recipients and couriers on a phone of 360 × 740 pixels, and counts their steps. */
import { Guias } from '@guias/sdk'
import bwipjs from 'bwip-js/node'
import type { Page } from 'playwright-core'
import { conUnTelefono } from '../demo/navegador.ts'
import { firmar } from '../demo/repartidor.ts'
import { FOTO } from './escenas.ts'
import { type Cuenta, Mano } from './mano.ts'
import { comoOperador, conMosaicos, enlacesDelBuzon, esperarMensaje, type Fresco } from './servicio.ts'

const PANTALLA = { width: 360, height: 740 }
const LUGAR = { lat: 14.71889, lng: -90.64417 }
const AQUI = { latitude: LUGAR.lat, longitude: LUGAR.lng, accuracy: 8 }
const UNA = {
  telefono: '+50231481676',
  departamento: 'Guatemala',
  municipio: 'San Juan Sacatepéquez',
  destinatario: 'María José Ajú',
  direccion: '2a calle 3-45, zona 1',
  recogida: { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 },
}
/** Parcels that a courier takes out in a morning. */
const MUCHAS = 200

/** Environment of a task: the service, a client for its merchant, and a courier without guides. */
type Escena = Fresco & { api: Guias; repartidor: string; codigo: string }

type Tarea = (escena: Escena, pagina: Page) => Promise<Cuenta>

const boton = (pagina: Page, name: string | RegExp) => pagina.getByRole('button', { name })
const enlace = (pagina: Page, name: string | RegExp) => pagina.getByRole('link', { name }).first()

/** Creates a guide for a new recipient, and opens the page with the link of the recipient's message. */
async function abrirEnlace({ url, api }: Escena, pagina: Page): Promise<void> {
  const vistos = await enlacesDelBuzon(url)
  await api.guias.crear({ ...UNA, telefono: `+5023148${1_000 + vistos.length}` })
  await pagina.goto(await esperarMensaje(url, vistos), { waitUntil: 'networkidle' })
}

async function confirmar(mano: Mano, pagina: Page): Promise<void> {
  await mano.tocar(boton(pagina, 'Confirmar'))
  await pagina.getByText('Gracias').first().waitFor()
}

async function senalar(mano: Mano, pagina: Page): Promise<void> {
  await mano.tocar(boton(pagina, 'Señalarlo en el mapa'))
  await pagina.locator('#mapa.leaflet-container:not(.ciego) .leaflet-tile-loaded').first().waitFor()
  await mano.tocar(pagina.locator('#mapa'), { x: 120, y: 160 })
  await confirmar(mano, pagina)
}

const confirmarAqui: Tarea = async (escena, pagina) => {
  await abrirEnlace(escena, pagina)
  const mano = new Mano(pagina)
  await mano.tocar(boton(pagina, 'Estoy ahí ahora'))
  await confirmar(mano, pagina)
  return mano.cuenta()
}

const confirmarEnElMapa: Tarea = async (escena, pagina) => {
  await abrirEnlace(escena, pagina)
  const mano = new Mano(pagina)
  await senalar(mano, pagina)
  return mano.cuenta()
}

const confirmarConEnlace: Tarea = async (escena, pagina) => {
  await abrirEnlace(escena, pagina)
  const mano = new Mano(pagina)
  await mano.tocar(boton(pagina, 'Pegar un enlace de mapa'))
  await pagina.locator('#enlace').fill(`https://www.google.com/maps?q=${LUGAR.lat},${LUGAR.lng}`)
  await confirmar(mano, pagina)
  return mano.cuenta()
}

const confirmarConPalabras: Tarea = async (escena, pagina) => {
  await abrirEnlace(escena, pagina)
  const mano = new Mano(pagina)
  await mano.tocar(boton(pagina, 'Describirlo con palabras'))
  await pagina.locator('#referencia').fill('Aldea El Carmen, casa azul tras la escuela')
  await confirmar(mano, pagina)
  return mano.cuenta()
}

const corregirElLugar: Tarea = async (escena, pagina) => {
  await confirmarAqui(escena, pagina)
  const mano = new Mano(pagina)
  await mano.tocar(enlace(pagina, 'Cambiar el lugar'))
  await senalar(mano, pagina)
  return mano.cuenta()
}

async function entrar({ url, codigo }: Escena, pagina: Page): Promise<void> {
  await pagina.goto(`${url}/repartidor`)
  await pagina.getByLabel('Su código de repartidor').fill(codigo)
  await boton(pagina, 'Entrar').tap()
  await pagina.getByRole('link', { name: 'Escanear' }).waitFor()
}

/** Creates guides and takes each through `estados`, assigned to the courier. */
async function llevar(escena: Escena, cuantas: number, estados: string[], datos: object = {}): Promise<string[]> {
  const guias: string[] = []
  for (let i = 0; i < cuantas; i += 100) {
    const lote = Array.from({ length: Math.min(100, cuantas - i) }, () => ({ ...UNA, ...LUGAR, ...datos }))
    const { resultados } = await escena.api.guias.crearLote({ guias: lote })
    guias.push(...resultados.flatMap((uno) => (uno.ok ? [uno.guia] : [])))
  }
  for (const guia of guias)
    for (const estado of estados)
      await comoOperador(
        escena,
        `/guias/${guia}/eventos`,
        estado === 'entregado'
          ? { estado, forzar: { razon: 'Entregada antes' } }
          : { estado, repartidor: escena.repartidor },
      )
  return guias
}

const etiquetaDe = (guia: string) =>
  bwipjs.toBuffer({ bcid: 'code128', text: guia, scale: 3, height: 15, padding: 12, backgroundcolor: 'FFFFFF' })

const escanearYSalir: Tarea = async (escena, pagina) => {
  const guias = await llevar(escena, MUCHAS, ['recolectado'])
  await entrar(escena, pagina)
  await pagina.getByRole('heading', { name: `${MUCHAS} por entregar` }).waitFor()
  const mano = new Mano(pagina)
  await mano.tocar(enlace(pagina, 'Escanear'))
  // The machine has no camera, so the page reads the labels from image files, one by one.
  await pagina.locator('video').waitFor({ state: 'detached' })
  await mano.tocar(pagina.getByText('Cargar varias a la lista'))
  for (const [i, guia] of guias.entries()) {
    await mano.leer(pagina.locator('input[type=file]'), await etiquetaDe(guia))
    await pagina.getByText(i === 0 ? '1 guía' : `${i + 1} guías`, { exact: true }).waitFor()
  }
  await mano.tocar(boton(pagina, `Salir a ruta con ${MUCHAS}`))
  await pagina.getByRole('heading', { name: `${MUCHAS} guías` }).waitFor()
  return mano.cuenta()
}

const marcarYSalir: Tarea = async (escena, pagina) => {
  await llevar(escena, MUCHAS, ['recolectado'])
  await entrar(escena, pagina)
  await pagina.getByRole('heading', { name: `${MUCHAS} por entregar` }).waitFor()
  const mano = new Mano(pagina)
  await mano.tocar(enlace(pagina, `Salir a ruta con ${MUCHAS}`))
  await mano.tocar(boton(pagina, `Salir a ruta con ${MUCHAS}`))
  await pagina.getByRole('heading', { name: `${MUCHAS} guías` }).waitFor()
  return mano.cuenta()
}

/** Factor by which the processor is slower, as Lighthouse simulates a phone. */
const LENTO = 4

/** Takes out the guides for delivery, and waits until the list shows that the service has received all reports. */
const marcarYEnviar: Tarea = async (escena, pagina) => {
  await llevar(escena, MUCHAS, ['recolectado'])
  await entrar(escena, pagina)
  await pagina.getByRole('heading', { name: `${MUCHAS} por entregar` }).waitFor()
  const sesion = await pagina.context().newCDPSession(pagina)
  await sesion.send('Emulation.setCPUThrottlingRate', { rate: LENTO })
  const mano = new Mano(pagina)
  await mano.tocar(enlace(pagina, `Salir a ruta con ${MUCHAS}`))
  await mano.tocar(boton(pagina, `Salir a ruta con ${MUCHAS}`))
  await mano.tocar(enlace(pagina, 'Ver la lista'))
  await mano.tocar(enlace(pagina, /Hecho/))
  await pagina.getByText(`Enviado hoy (${MUCHAS})`).waitFor({ timeout: 300_000 })
  return mano.cuenta()
}

async function llenar(mano: Mano, pagina: Page): Promise<void> {
  await mano.fotografiar(pagina.locator('input[type=file]'), FOTO)
  await pagina.getByAltText('Foto 1').waitFor()
  await mano.tocar(boton(pagina, UNA.destinatario))
  await mano.trazar(pagina.locator('canvas.firma'), () => firmar(pagina))
}

const entregar: Tarea = async (escena, pagina) => {
  await llevar(escena, 1, ['recolectado', 'en_ruta'])
  await entrar(escena, pagina)
  const mano = new Mano(pagina)
  await mano.tocar(pagina.getByRole('link', { name: 'Entregar', exact: true }))
  await llenar(mano, pagina)
  await mano.tocar(boton(pagina, 'Confirmar la entrega'))
  await pagina.getByRole('heading', { name: 'Entregada' }).waitFor()
  return mano.cuenta()
}

const EN_UNA_PUERTA = 3
const enUnaPuerta: Tarea = async (escena, pagina) => {
  const lejos = { lat: LUGAR.lat + 0.0015, lng: LUGAR.lng, telefono: '+50231481999', direccion: 'Una puerta' }
  await llevar(escena, EN_UNA_PUERTA, ['recolectado', 'en_ruta'], lejos)
  await entrar(escena, pagina)
  const mano = new Mano(pagina)
  await mano.tocar(pagina.getByRole('link', { name: 'Entregar', exact: true }))
  await llenar(mano, pagina)
  const otras = pagina.locator('.marcable')
  for (let i = 0; i < EN_UNA_PUERTA - 1; i++) await mano.tocar(otras.nth(i))
  await mano.tocar(boton(pagina, 'Confirmar la entrega'))
  await pagina.getByRole('heading', { name: `Entregada: ${EN_UNA_PUERTA} guías` }).waitFor()
  return mano.cuenta()
}

const intentar: Tarea = async (escena, pagina) => {
  await llevar(escena, 1, ['recolectado', 'en_ruta'])
  await entrar(escena, pagina)
  const mano = new Mano(pagina)
  await mano.tocar(enlace(pagina, 'No se pudo entregar'))
  await mano.tocar(pagina.getByText('No había nadie'))
  await mano.fotografiar(pagina.locator('input[type=file]'), FOTO)
  await pagina.getByAltText('Foto 1').waitFor()
  await mano.tocar(boton(pagina, 'Registrar'))
  await pagina.locator('.palomita').waitFor()
  return mano.cuenta()
}

/** Number of guides that the courier delivered before changing to another phone. */
const HECHAS = 3
const enOtroTelefono: Tarea = async (escena, pagina) => {
  await llevar(escena, HECHAS, ['recolectado', 'en_ruta', 'entregado'])
  await llevar(escena, 1, ['recolectado', 'en_ruta'])
  await pagina.goto(`${escena.url}/repartidor`)
  const mano = new Mano(pagina)
  await pagina.getByLabel('Su código de repartidor').fill(escena.codigo)
  await mano.tocar(boton(pagina, 'Entrar'))
  await pagina.getByText(`${HECHAS} de ${HECHAS + 1} entregadas`).waitFor()
  return mano.cuenta()
}

const TAREAS: Readonly<Record<string, Tarea>> = {
  'confirm a place: here': confirmarAqui,
  'confirm a place: on the map': confirmarEnElMapa,
  'confirm a place: by a link': confirmarConEnlace,
  'confirm a place: in words': confirmarConPalabras,
  'correct a confirmed place on the map': corregirElLugar,
  'deliver, with photo and signature': entregar,
  [`deliver ${EN_UNA_PUERTA} at one door`]: enUnaPuerta,
  'failed attempt, with photo': intentar,
  [`sign in on a second phone, after ${HECHAS} of ${HECHAS + 1}`]: enOtroTelefono,
  [`send out ${MUCHAS}: scanned`]: escanearYSalir,
  [`send out ${MUCHAS}: ticked on the list`]: marcarYSalir,
  [`send out ${MUCHAS}: until sent, processor ${LENTO} times slower`]: marcarYEnviar,
}

/** Runs each task on a new emulated phone with a new courier, and prints a table of the steps. */
export async function medirTareas(fresco: Fresco): Promise<void> {
  const api = new Guias({ llave: fresco.demo.llave, baseUrl: fresco.url })
  console.log('| job | taps | scans | pixels | seconds |\n|---|---:|---:|---:|---:|')
  for (const [nombre, tarea] of Object.entries(TAREAS)) {
    const quien = await comoOperador<{ repartidor: string; codigo: string }>(fresco, '/repartidores', {
      nombre: 'Carlos',
    })
    const { toques, lecturas, pixeles, segundos } = await conUnTelefono(AQUI, async (pagina) => {
      await pagina.setViewportSize(PANTALLA)
      await conMosaicos(pagina)
      return tarea({ ...fresco, api, ...quien }, pagina)
    })
    console.log(`| ${nombre} | ${toques} | ${lecturas} | ${pixeles} | ${segundos.toFixed(1)} |`)
  }
}
