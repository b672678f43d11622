import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { serveRastreo } from '../../server/pages/tracking/route.ts'
import type { ShownShipment } from '../../server/pages/tracking/shipment.ts'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { DEFAULT_FRONT } from '../factories.ts'

/** Serves the tracking page in memory, with a clock and a reader of its own. */
export async function serveDetachedRastreo(read: (codigo: string) => Promise<ShownShipment | undefined>) {
  let now = 0
  const app = express()
  app.set('trust proxy', 1)
  serveRastreo(app, { front: DEFAULT_FRONT, read, clock: () => now })
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    advance: (ms: number) => {
      now += ms
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
export const SHOWN_SHIPMENT: ShownShipment = {
  guia: newGuideCode(),
  modo: 'live',
  estado: 'en_ruta',
  comercio: 'Zapatería El Paso',
  municipio: 'Mixco',
  zona: 'America/Guatemala',
  initial: 'M',
  ubicacion: 'confirmada',
  isRecipientPlace: false,
  intentos: 0,
  decision: null,
  wasAsked: false,
  now: new Date('2026-11-21T16:42:00Z'),
  eventos: [{ tipo: 'guia.en_ruta', ocurrido_en: new Date('2026-11-21T14:05:00Z'), motivo: null }],
  hasMore: false,
}
