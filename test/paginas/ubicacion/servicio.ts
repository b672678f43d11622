import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32, deflateSync } from 'node:zlib'
import express from 'express'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type {
  DatosDeSolicitud,
  LugarPropuesto,
  ResultadoDeConfirmacion,
  Solicitudes,
} from '../../../server/domain/ubicacion/solicitud.ts'
import { servirUbicacion } from '../../../server/pages/ubicacion/route.ts'
import { FACHADA } from '../../fabricas.ts'

export const MIXCO = { lat: 14.6333, lng: -90.6064 }
const ABIERTA: DatosDeSolicitud = {
  estado: 'abierta',
  guia: '7K3M9QX2A1B4',
  comercio: 'Zapatería El Paso',
  contenido: '2 pares de zapatos',
  destinatario: 'María Fernanda Ajú López',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  direccion: '4a. calle 5-20, zona 1',
  centro: MIXCO,
  confirmado: null,
  corregible: false,
}
/** The service behind the page, in memory: what the page asks of it, and what it answers. */
function crearPaginas() {
  const solicitudes = new Map<string, DatosDeSolicitud>()
  const confirmaciones: LugarPropuesto[] = []
  const palabras: string[] = []
  const otros: string[] = []
  let lecturas = 0
  let responder: ((lugar: LugarPropuesto) => ResultadoDeConfirmacion | undefined) | undefined
  const puerto: Solicitudes = {
    async leer(token) {
      lecturas++
      return solicitudes.get(token)
    },
    async confirmar(token, lugar) {
      confirmaciones.push(lugar)
      const datos = solicitudes.get(token)
      if (!datos) return { ok: false, motivo: 'desconocida' }
      if (datos.estado === 'vencida' || datos.estado === 'cerrada') return { ok: false, motivo: datos.estado }
      const resultado = responder?.(lugar)
      if (resultado) return resultado
      const anterior = datos.confirmado
      if (lugar.metodo === 'descripcion' && !lugar.sin_punto && anterior && (anterior.enlace ?? anterior.lat) !== null)
        return { ok: false, motivo: 'con_punto' }
      const { lat = null, lng = null, precision_m = null, enlace = null, referencia = null } = lugar
      const confirmado = { lat, lng, precision_m, enlace, referencia, lectura: null }
      solicitudes.set(token, { ...datos, estado: 'confirmada', confirmado, corregible: true })
      return { ok: true }
    },
    async describir(token, referencia) {
      palabras.push(referencia)
      const datos = solicitudes.get(token)
      if (!datos?.confirmado) return { ok: false, motivo: 'desconocida' }
      solicitudes.set(token, { ...datos, confirmado: { ...datos.confirmado, referencia: referencia || null } })
      return { ok: true }
    },
    async pedirOtro(token) {
      otros.push(token)
      return { ok: true, repetida: false, termina_en: '76' }
    },
  }
  let cuenta = 0
  return {
    puerto,
    confirmaciones,
    palabras,
    otros,
    lecturas: () => lecturas,
    responder: (como: typeof responder) => {
      responder = como
    },
    nueva(cambios: Partial<DatosDeSolicitud> = {}) {
      const token = `tok_${String(++cuenta).padStart(18, '0')}`
      solicitudes.set(token, { ...ABIERTA, ...cambios })
      return token
    },
    cambiar(token: string, cambios: Partial<DatosDeSolicitud>) {
      solicitudes.set(token, { ...solicitudes.get(token)!, ...cambios })
    },
    /** Everything as before the test; a token is never used twice. */
    vaciar() {
      confirmaciones.length = 0
      palabras.length = 0
      otros.length = 0
      responder = undefined
      lecturas = 0
    },
  }
}
/** A tile as the server of a map would send it: green, with an edge, and paler towards one corner. */
const TESELA = (() => {
  const lado = 256
  const crudo = Buffer.alloc((lado * 3 + 1) * lado)
  for (let y = 0; y < lado; y++) {
    for (let x = 0; x < lado; x++) {
      const calle = x % 64 < 5 || y % 64 < 5
      crudo.set(calle ? [250, 250, 245] : [196 + (x >> 4), 222, 190 + (y >> 4)], y * (lado * 3 + 1) + 1 + x * 3)
    }
  }
  const trozo = (tipo: string, datos: Buffer) => {
    const cuerpo = Buffer.concat([Buffer.from(tipo), datos])
    const [largo, suma] = [Buffer.alloc(4), Buffer.alloc(4)]
    largo.writeUInt32BE(datos.length)
    suma.writeUInt32BE(crc32(cuerpo))
    return Buffer.concat([largo, cuerpo, suma])
  }
  const cabecera = Buffer.from([0, 0, 1, 0, 0, 0, 1, 0, 8, 2, 0, 0, 0])
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    trozo('IHDR', cabecera),
    trozo('IDAT', deflateSync(crudo)),
    trozo('IEND', Buffer.alloc(0)),
  ])
})()
export const escucharServidor = (servidor: Server) =>
  new Promise<string>((resolve) => {
    servidor.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(servidor.address() as AddressInfo).port}`))
  })
export const falso = crearPaginas()
export const remitentes: (string | undefined)[] = []
/** What the server of the map's tiles does: answers, or fails. */
export const teselas = { fallan: false }
// Where a file's tests find them: the page, and the map's tiles.
export let url = ''
export let mosaico = ''
let ahora = 0
export const adelantar = (ms: number) => {
  ahora += ms
}

/** Called once at the top of a test file. */
export function usarServicio() {
  let servidores: Server[]
  beforeAll(async () => {
    const servidorDeTeselas = createServer((req, res) => {
      remitentes.push(req.headers.referer)
      if (teselas.fallan) return void res.writeHead(503).end()
      res.setHeader('Content-Type', 'image/png')
      res.end(TESELA)
    })
    mosaico = await escucharServidor(servidorDeTeselas)
    const app = express()
    servirUbicacion(app, {
      fachada: FACHADA,
      retencion: 90,
      solicitudes: falso.puerto,
      mosaicos: { url: `${mosaico}/{z}/{x}/{y}.png`, atribucion: '© OpenStreetMap' },
      reloj: () => ahora,
    })
    const servidor = createServer(app)
    url = await escucharServidor(servidor)
    servidores = [servidorDeTeselas, servidor]
  })
  beforeEach(() => {
    falso.vaciar()
    teselas.fallan = false
    adelantar(60_000) // everybody's bucket is full again
  })
  afterAll(() => {
    for (const servidor of servidores) {
      servidor.closeAllConnections()
      servidor.close()
    }
  })
}

export const enviarFormulario = (
  token: string,
  campos: Record<string, string>,
  cabeceras: Record<string, string> = {},
) =>
  fetch(`${url}/u/${token}`, {
    method: 'POST',
    body: new URLSearchParams(campos).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...cabeceras },
    redirect: 'manual',
  })
