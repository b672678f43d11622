import type { Express } from 'express'
import { perMinute } from '../../api/limits/buckets.ts'
import { NetworkLimit } from '../../api/limits/networkLimit.ts'
import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
import { Html } from '../../platform/html.ts'
import { readGenerated } from '../assets.ts'
import { answerCode } from '../codeForm.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { type PageRequest, type Sheet, servePage } from '../page.ts'
import { byDigest } from '../response.ts'
import type { ReadShipment } from './shipment.ts'
import { RASTREO_FAILED, shipmentPage, unknownShipmentPage } from './view.ts'

export interface RastreoOptions {
  front: Front
  read: ReadShipment
  /** Clock of the rate limit, in milliseconds; only differences count. */
  clock?: () => number
}

/**
 * Maximum requests per minute from one network. A code has 55 random bits: with ten million guides, a network at this
 * rate guesses one code in about fifty years. The limit is high enough for a whole mobile network behind one address.
 */
const READS_PER_MINUTE = perMinute(120)

/** Link preview of every tracking page. It does not show the parcel's state, because messaging apps keep previews. */
export const RASTREO_PREVIEW = { titulo: 'Siga su envío', descripcion: 'Vea por dónde va su paquete y qué sigue.' }

/**
 * Serves `/r/{guia}`, which shows the progress of a parcel to anyone who has its code. Also serves `/r`, which
 * redirects there from a typed code.
 */
export function serveRastreo(app: Express, { front, read, clock }: RastreoOptions) {
  const readBuilt = (archivo: string) => readGenerated(`pages/tracking/${archivo}`).toString()
  const [style, program] = [readBuilt('estilo.css'), readBuilt('navegador.js')]
  const [head, script] = [ownHead(new Html(style)), new Html(program)]
  const limit = new NetworkLimit(READS_PER_MINUTE, clock ? { clock } : {})
  servePage(app, '/r', {
    headers: front.policyHeaders({
      'style-src': byDigest(style),
      'script-src': byDigest(program),
      'connect-src': "'self'",
      'form-action': "'self'",
    }),
    head: () => head,
    front,
    preview: RASTREO_PREVIEW,
    failure: RASTREO_FAILED,
    waitSeconds: ({ red }) => limit.take(red),
    async handle(pageRequest) {
      const { req, rest, root } = pageRequest
      if (req.path === '/') return find(pageRequest)
      const code = normalizeGuideCode(rest)
      const shipment = code === undefined ? undefined : await read(code)
      return shipment
        ? { status: 200, ...shipmentPage(shipment, { root, script, front }) }
        : { status: 404, ...unknownShipmentPage(root) }
    },
  })
}

/** Redirects from a typed code to the parcel's page. */
const find = ({ req, root }: PageRequest): Sheet =>
  answerCode(req.query.guia, {
    empty: { status: 303, a: root || './' },
    unknown: (typedCode) => unknownShipmentPage(root, typedCode),
    below: `${root}r/`,
  })
