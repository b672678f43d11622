import type { Express } from 'express'
import { NetworkLimit } from '../../api/limits/networkLimit.ts'
import type { UbicacionRequests } from '../../domain/ubicacion/request.ts'
import { serveAssets } from '../assets.ts'
import { FormError } from '../form.ts'
import type { Front } from '../front.ts'
import { servePage } from '../page.ts'
import { placePrivacy } from '../privacy.ts'
import type { ReadShipment } from '../tracking/shipment.ts'
import { UBICACION_FAILED, UNKNOWN_UBICACION_REQUEST, UNREADABLE_UBICACION_FORM } from './afterwards.ts'
import { readUbicacionForm } from './form.ts'
import { createLinkLimits, LINK_TOKEN } from './link.ts'
import { UBICACION_QUESTION } from './parts.ts'
import { createUbicacionSheets } from './sheets.ts'
import { locationFiles, mapOf, type Tiles, tileOrigin } from './tiles.ts'
import { ubicacionHead } from './view.ts'

export interface UbicacionPageOptions {
  front: Front
  solicitudes: UbicacionRequests
  readShipment: ReadShipment
  /** Source of the map tiles; null if the service offers no map. */
  tiles: Tiles | null
  /** Days that locations are kept after the guide ends. */
  retentionDays: number
  /** Clock of the rate limits, in milliseconds; only differences count. */
  clock?: () => number
}

/**
 * Rate of new links that one network may request, for all guides together; a network may be a whole mobile network.
 * Each guide and each telephone has a lower limit of its own.
 */
const NEW_LINK_RATE = { perSecond: 1 / 60, burst: 30 }

/** Link preview of the page. It says nothing about the parcel, because messaging apps keep previews. */
const UBICACION_PREVIEW = {
  titulo: UBICACION_QUESTION,
  descripcion: 'Díganos el lugar exacto para que el repartidor lo encuentre.',
}

/**
 * Serves `/u/{token}`, where the recipient says where to deliver. The token is the only authorization, and is never
 * logged.
 */
export function serveUbicacion(
  app: Express,
  { front, solicitudes, readShipment, tiles, retentionDays, clock }: UbicacionPageOptions,
) {
  const assets = locationFiles()
  const newLinkNetworkLimit = new NetworkLimit(NEW_LINK_RATE, clock ? { clock } : {})
  const { ver, receive } = createUbicacionSheets(solicitudes, {
    readShipment,
    storyStyle: (root) => root + assets.path('relato.css'),
    mapFor: mapOf(tiles),
    newLinkLimit: (network) => newLinkNetworkLimit.take(network),
  })
  serveAssets(app, assets.archivos)
  servePage(app, '/u', {
    methods: ['POST'],
    headers: policy(front, tiles),
    head: ({ root }) => ubicacionHead((archivo) => root + assets.path(archivo)),
    front,
    preview: UBICACION_PREVIEW,
    nota: placePrivacy(retentionDays),
    failure: UBICACION_FAILED,
    waitSeconds: createLinkLimits(clock),
    async handle({ req, rest: token, root, red, reading }) {
      if (!LINK_TOKEN.test(token)) return { status: 404, ...UNKNOWN_UBICACION_REQUEST }
      const opened = { token, root, red }
      if (reading) return ver(opened, req.query.cambiar === undefined ? {} : { cambiar: '1' })
      try {
        return await receive(opened, await readUbicacionForm(req))
      } catch (error) {
        if (error instanceof FormError) return { status: error.status, ...UNREADABLE_UBICACION_FORM }
        throw error
      }
    },
  })
}

/**
 * Returns the policy headers of the page. The page loads its own files and the map tiles, its form posts only to this
 * service, and no site may frame it.
 */
function policy(front: Front, tiles: Tiles | null) {
  const origin = tileOrigin(tiles)
  return front.policyHeaders(
    {
      'script-src': "'self'",
      'style-src': "'self'",
      ...(origin ? { 'img-src': origin } : {}),
      'connect-src': "'self'",
      'form-action': "'self'",
    },
    ['geolocation'],
  )
}
