import type { Express } from 'express'
import type { DecisionData, Decisiones } from '../../domain/decisiones/decidir.ts'
import { Html } from '../../platform/html.ts'
import { readGenerated } from '../assets.ts'
import { FormError } from '../form.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { createLinkLimits, LINK_TOKEN } from '../location/link.ts'
import { mapOf, type Tiles, tileOrigin } from '../location/tiles.ts'
import { type Sheet, servePage } from '../page.ts'
import { placePrivacy } from '../privacy.ts'
import { byDigest } from '../response.ts'
import type { ReadShipment, ShownShipment } from '../tracking/shipment.ts'
import { type AnswerFault, type AnswerForm, interpretAnswer, readAnswer } from './form.ts'
import {
  DECISION_FAILED,
  type Draft,
  decidedPage,
  EXPIRED_DECISION,
  farPlacePage,
  NOT_POSSIBLE,
  QUESTION,
  questionPage,
  refusalPage,
  searchingPage,
  supersededPage,
  UNKNOWN_DECISION,
  UNREADABLE,
} from './view.ts'

export interface DecisionPageOptions {
  front: Front
  decisiones: Decisiones
  readShipment: ReadShipment
  /** Source of the map tiles; null if the service offers no map. */
  tiles: Tiles | null
  /** Days that the recipient's answers are kept after the guide ends. */
  retentionDays: number
  /** Clock of the rate limits, in milliseconds; only differences count. */
  clock?: () => number
}

/** Preview beside every link to the page. Messaging apps keep previews, so it says nothing about the parcel. */
const PREVIEW = { titulo: QUESTION, descripcion: 'Díganos qué hacemos con el paquete que no pudimos entregarle.' }

const NEW_DRAFT: Draft = { eleccion: undefined, values: {}, fallas: [] }

/** Link of a recipient, as the browser opened it. */
interface Opened {
  token: string
  /** Relative path from the page to the service root. */
  root: string
}

/**
 * Serves `/d/{token}`, where the recipient decides after a failed attempt. The link's token is the only authorization,
 * and is never logged. The page works without its script, which finds the phone's position and opens the map for another
 * place.
 */
export function serveDecision(app: Express, options: DecisionPageOptions) {
  const { front, tiles, retentionDays, clock } = options
  const readBuilt = (archivo: string) => readGenerated(`pages/decide/${archivo}`).toString()
  const [style, program] = [readBuilt('estilo.css'), readBuilt('navegador.js')]
  const [head, script] = [ownHead(new Html(style)), new Html(program)]
  const { ver, receive } = createSheets(options, script)
  servePage(app, '/d', {
    methods: ['POST'],
    headers: policy(front, tiles, style, program),
    head: () => head,
    front,
    preview: PREVIEW,
    nota: placePrivacy(retentionDays),
    failure: DECISION_FAILED,
    waitSeconds: createLinkLimits(clock),
    async handle({ req, rest: token, root, reading }) {
      if (!LINK_TOKEN.test(token)) return { status: 404, ...UNKNOWN_DECISION }
      if (reading) return ver({ token, root }, { ...NEW_DRAFT, values: { cambiar: String(req.query.cambiar ?? '') } })
      try {
        return await receive({ token, root }, await readAnswer(req))
      } catch (error) {
        if (error instanceof FormError) return { status: error.status, ...UNREADABLE }
        throw error
      }
    },
  })
}

/** Returns the policy headers of the page. It loads only the map's own files and tiles, and only if there is a map. */
function policy(front: Front, tiles: Tiles | null, style: string, program: string) {
  const origin = tileOrigin(tiles)
  const ownFiles = origin ? "'self' " : ''
  return front.policyHeaders(
    {
      'form-action': "'self'",
      'style-src': ownFiles + byDigest(style),
      'script-src': ownFiles + byDigest(program),
      ...(origin ? { 'img-src': origin } : {}),
    },
    ['geolocation'],
  )
}

/** Creates the two handlers of a link: `ver` shows its page, and `receive` answers the form sent from that page. */
function createSheets(
  { decisiones, readShipment, tiles }: Pick<DecisionPageOptions, 'decisiones' | 'readShipment' | 'tiles'>,
  placeScript: Html,
) {
  const mapFor = mapOf(tiles)
  const ver = async ({ token, root }: Opened, draft = NEW_DRAFT, isLate = false): Promise<Sheet> => {
    const datos = await decisiones.read(token)
    if (!datos) return { status: 404, ...UNKNOWN_DECISION }
    if (datos.estado === 'vencida') return { status: 410, ...EXPIRED_DECISION }
    const shipment = (await readShipment(datos.guia))!
    if (isAnswerable(datos, draft.values))
      return {
        status: draft.fallas.length > 0 ? 422 : 200,
        ...questionPage(datos, shipment, draft, { map: mapFor(root), placeScript }),
      }
    return { status: isLate ? 409 : 200, ...closedPage(datos, shipment, { root, isLate }) }
  }
  const receive = async (opened: Opened, form: AnswerForm): Promise<Sheet> => {
    const interpreted = interpretAnswer(form)
    if (!interpreted) return { status: 400, ...UNREADABLE }
    if ('fallas' in interpreted) return ver(opened, { ...interpreted, values: form })
    const { respuesta } = interpreted
    const { eleccion } = respuesta
    const withFault = (fault: AnswerFault) => ver(opened, { eleccion, values: form, fallas: [fault] })
    if (form.seguro === 'no') return ver(opened, { eleccion, values: form, fallas: [] })
    if (eleccion === 'rechazo' && form.seguro !== '1') return askAgain(opened, form)
    const result = await decisiones.decide(opened.token, respuesta, form.cambiar ? Number(form.cambiar) : undefined)
    if (result.ok) return { status: 303, a: opened.token }
    switch (result.motivo) {
      case 'lejos': {
        const datos = await decisiones.read(opened.token)
        if (!datos || !isAnswerable(datos, form)) return ver(opened, NEW_DRAFT, true)
        return { status: 422, ...farPlacePage(datos, form, result.distancia_km) }
      }
      case 'fecha_invalida':
        return withFault({ campo: 'fecha', mensaje: 'Ese día ya no se puede: elija otro.' })
      case 'no_admitida':
        return { status: 409, ...NOT_POSSIBLE }
      case 'cerrada':
      case 'desconocida':
        return ver(opened, NEW_DRAFT, true)
      default:
        return withFault({
          campo: result.motivo === 'referencia_larga' ? 'referencia' : 'enlace',
          mensaje: result.mensaje,
        })
    }
  }
  const askAgain = async (opened: Opened, form: AnswerForm): Promise<Sheet> => {
    const datos = await decisiones.read(opened.token)
    if (!datos || !isAnswerable(datos, form)) return ver(opened, NEW_DRAFT, true)
    return { status: 200, ...refusalPage(datos, opened.token, form.cambiar) }
  }
  return { ver, receive }
}

/** Returns true if the recipient may decide, or may replace the decision that `cambiar` names. */
const isAnswerable = ({ estado, replaceable }: DecisionData, { cambiar }: Partial<AnswerForm>) =>
  estado === 'abierta' || (replaceable !== null && cambiar === String(replaceable))

function closedPage(datos: DecisionData, shipment: ShownShipment, options: { root: string; isLate: boolean }) {
  if (datos.estado === 'decidida') return decidedPage(datos, shipment, options)
  return datos.estado === 'detenida' ? searchingPage(shipment, options.root) : supersededPage(shipment, options.root)
}
