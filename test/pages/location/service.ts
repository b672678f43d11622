import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32, deflateSync } from 'node:zlib'
import express from 'express'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type {
  ConfirmationResult,
  ProposedPlace,
  UbicacionRequestData,
  UbicacionRequests,
} from '../../../server/domain/ubicacion/request.ts'
import { serveUbicacion } from '../../../server/pages/location/route.ts'
import type { ShownShipment } from '../../../server/pages/tracking/shipment.ts'
import { DEFAULT_FRONT } from '../../factories.ts'
import { SHOWN_SHIPMENT } from '../trackingApart.ts'

export const MIXCO = { lat: 14.6333, lng: -90.6064 }
const ABIERTA: UbicacionRequestData = {
  estado: 'abierta',
  guia: '7K3M9QX2A1B4',
  comercio: 'Zapatería El Paso',
  contenido: '2 pares de zapatos',
  destinatario: 'María Fernanda Ajú López',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  direccion: '4a. calle 5-20, zona 1',
  centre: MIXCO,
  confirmed: null,
  correctable: false,
}
/** The service behind the page, in memory: what the page asks of it, and what it answers. */
function createFakePages() {
  const solicitudes = new Map<string, UbicacionRequestData>()
  const confirmations: ProposedPlace[] = []
  const words: string[] = []
  const otherTokens: string[] = []
  /** State of every parcel. */
  const parcel = { estado: 'en_bodega' as ShownShipment['estado'] }
  let readCount = 0
  let responder: ((place: ProposedPlace) => ConfirmationResult | undefined) | undefined
  const requestsPort: UbicacionRequests = {
    async read(token) {
      readCount++
      return solicitudes.get(token)
    },
    async confirm(token, place) {
      confirmations.push(place)
      const datos = solicitudes.get(token)
      if (!datos) return { ok: false, motivo: 'desconocida' }
      if (datos.estado === 'vencida' || datos.estado === 'cerrada') return { ok: false, motivo: datos.estado }
      const result = responder?.(place)
      if (result) return result
      const anterior = datos.confirmed
      if (
        place.method === 'descripcion' &&
        !place.removesPoint &&
        anterior &&
        (anterior.enlace ?? anterior.lat) !== null
      )
        return { ok: false, motivo: 'con_punto' }
      const { lat = null, lng = null, precision_m = null, enlace = null, referencia = null } = place
      const confirmedPlace = { lat, lng, precision_m, enlace, referencia, lectura: null }
      solicitudes.set(token, { ...datos, estado: 'confirmada', confirmed: confirmedPlace, correctable: true })
      return { ok: true }
    },
    async describe(token, referencia) {
      words.push(referencia)
      const datos = solicitudes.get(token)
      if (!datos?.confirmed) return { ok: false, motivo: 'desconocida' }
      solicitudes.set(token, { ...datos, confirmed: { ...datos.confirmed, referencia: referencia || null } })
      return { ok: true }
    },
    async requestAnother(token) {
      otherTokens.push(token)
      return { ok: true, repetida: false, lastDigits: '76' }
    },
  }
  let count = 0
  return {
    requestsPort,
    parcel,
    readShipment: async (guia: string): Promise<ShownShipment> => ({ ...SHOWN_SHIPMENT, guia, ...parcel }),
    confirmations,
    words,
    others: otherTokens,
    scans: () => readCount,
    responder: (newResponder: typeof responder) => {
      responder = newResponder
    },
    createRequest(cambios: Partial<UbicacionRequestData> = {}) {
      const token = `tok_${String(++count).padStart(18, '0')}`
      solicitudes.set(token, { ...ABIERTA, ...cambios })
      return token
    },
    change(token: string, cambios: Partial<UbicacionRequestData>) {
      solicitudes.set(token, { ...solicitudes.get(token)!, ...cambios })
    },
    /** Everything as before the test; a token is never used twice. */
    reset() {
      confirmations.length = 0
      words.length = 0
      otherTokens.length = 0
      responder = undefined
      parcel.estado = 'en_bodega'
      readCount = 0
    },
  }
}
/** A tile as the server of a map would send it: green, with an edge, and paler towards one corner. */
const TILE_PNG = (() => {
  const tileSide = 256
  const rawPixels = Buffer.alloc((tileSide * 3 + 1) * tileSide)
  for (let y = 0; y < tileSide; y++) {
    for (let x = 0; x < tileSide; x++) {
      const isStreet = x % 64 < 5 || y % 64 < 5
      rawPixels.set(
        isStreet ? [250, 250, 245] : [196 + (x >> 4), 222, 190 + (y >> 4)],
        y * (tileSide * 3 + 1) + 1 + x * 3,
      )
    }
  }
  const toPngChunk = (tipo: string, datos: Buffer) => {
    const body = Buffer.concat([Buffer.from(tipo), datos])
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(datos.length)
    checksum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, checksum])
  }
  const header = Buffer.from([0, 0, 1, 0, 0, 0, 1, 0, 8, 2, 0, 0, 0])
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    toPngChunk('IHDR', header),
    toPngChunk('IDAT', deflateSync(rawPixels)),
    toPngChunk('IEND', Buffer.alloc(0)),
  ])
})()
export const listenOnFreePort = (server: Server) =>
  new Promise<string>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
export const fakePages = createFakePages()
export const tileReferers: (string | undefined)[] = []
/** What the server of the map's tiles does: answers, or fails. */
export const tileServer = { isFailing: false }
// Where a file's tests find them: the page, and the map's tiles.
export let url = ''
export let tilesUrl = ''
let now = 0
export const advanceClock = (ms: number) => {
  now += ms
}

/** Called once at the top of a test file. */
export function useUbicacionService() {
  let servers: Server[]
  beforeAll(async () => {
    const localTileServer = createServer((req, res) => {
      tileReferers.push(req.headers.referer)
      if (tileServer.isFailing) return void res.writeHead(503).end()
      res.setHeader('Content-Type', 'image/png')
      res.end(TILE_PNG)
    })
    tilesUrl = await listenOnFreePort(localTileServer)
    const app = express()
    serveUbicacion(app, {
      front: DEFAULT_FRONT,
      retentionDays: 90,
      solicitudes: fakePages.requestsPort,
      readShipment: fakePages.readShipment,
      tiles: { url: `${tilesUrl}/{z}/{x}/{y}.png`, attribution: '© OpenStreetMap' },
      clock: () => now,
    })
    const server = createServer(app)
    url = await listenOnFreePort(server)
    servers = [localTileServer, server]
  })
  beforeEach(() => {
    fakePages.reset()
    tileServer.isFailing = false
    advanceClock(60_000) // everybody's bucket is full again
  })
  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  })
}

export const submitForm = (token: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(`${url}/u/${token}`, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    redirect: 'manual',
  })
