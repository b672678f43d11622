import type { Express } from 'express'
import type { DatosDeDecision, Decisiones } from '../../domain/decisiones/decidir.ts'
import { readGenerated } from '../assets.ts'
import { FormError } from '../form.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { Html } from '../html.ts'
import { type Sheet, servePage } from '../page.ts'
import { privacidadDelLugar } from '../privacidad.ts'
import { byDigest } from '../response.ts'
import { createLinkLimits, LINK_TOKEN } from '../ubicacion/enlace.ts'
import { type Mosaicos, mapOf, tileOrigin } from '../ubicacion/mosaicos.ts'
import { type AnswerFault, type AnswerForm, interpretAnswer, readAnswer } from './formulario.ts'
import {
  DECISION_FAILED,
  type DecisionMap,
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
  fachada: Front
  decisiones: Decisiones
  /** Source of the map tiles; null if the service offers no map. */
  mosaicos: Mosaicos | null
  /** Days that the recipient's answers are kept after the guide ends. */
  retencion: number
  /** Clock of the rate limits, in milliseconds; only differences count. */
  reloj?: () => number
}

/** Preview beside every link to the page. Messaging apps keep previews, so it says nothing about the parcel. */
const PREVIEW = { titulo: QUESTION, descripcion: 'Díganos qué hacemos con el paquete que no pudimos entregarle.' }

const NEW_DRAFT: Draft = { eleccion: undefined, valores: {}, fallas: [] }

/** Link of a recipient, as the browser opened it. */
interface Opened {
  token: string
  /** Relative path from the page to the service root. */
  raiz: string
}

/**
 * Serves `/d/{token}`, where the recipient decides after a failed attempt. The link's token is the only authorization,
 * and is never logged. The page works without its script, which only opens the map for another place.
 */
export function servirDecision(app: Express, { fachada, decisiones, mosaicos, retencion, reloj }: DecisionPageOptions) {
  const leerHecho = (archivo: string) => readGenerated(`paginas/decidir/${archivo}`).toString()
  const [estilo, programa] = [leerHecho('estilo.css'), leerHecho('navegador.js')]
  const [cabeza, guion] = [ownHead(new Html(estilo)), new Html(programa)]
  const mapa = mapOf(mosaicos)
  const { ver, recibir } = createSheets(decisiones, (raiz) => {
    const suyo = mapa(raiz)
    return suyo && { ...suyo, guion }
  })
  servePage(app, '/d', {
    metodos: ['POST'],
    cabeceras: policy(fachada, mosaicos, estilo, programa),
    cabeza: () => cabeza,
    fachada,
    previa: PREVIEW,
    nota: privacidadDelLugar(retencion),
    fallo: DECISION_FAILED,
    esperar: createLinkLimits(reloj),
    async atender({ req, resto: token, raiz, leyendo }) {
      if (!LINK_TOKEN.test(token)) return { status: 404, ...UNKNOWN_DECISION }
      if (leyendo) return ver({ token, raiz })
      try {
        return await recibir({ token, raiz }, await readAnswer(req))
      } catch (error) {
        if (error instanceof FormError) return { status: error.status, ...UNREADABLE }
        throw error
      }
    },
  })
}

/** Returns the policy headers of the page. It loads only the map's own files and tiles, and only if there is a map. */
function policy(fachada: Front, mosaicos: Mosaicos | null, estilo: string, programa: string) {
  const comun = { 'form-action': "'self'" }
  const origen = tileOrigin(mosaicos)
  if (!origen) return fachada.permisos({ ...comun, 'style-src': byDigest(estilo) })
  return fachada.permisos({
    ...comun,
    'style-src': `'self' ${byDigest(estilo)}`,
    'script-src': `'self' ${byDigest(programa)}`,
    'img-src': origen,
  })
}

/** Creates the two handlers of a link: `ver` shows its page, and `recibir` answers the form sent from that page. */
function createSheets(decisiones: Decisiones, mapaDe: (raiz: string) => DecisionMap | null) {
  const ver = async ({ token, raiz }: Opened, borrador = NEW_DRAFT, tarde = false): Promise<Sheet> => {
    const datos = await decisiones.leer(token)
    if (!datos) return { status: 404, ...UNKNOWN_DECISION }
    if (datos.estado === 'abierta')
      return { status: borrador.fallas.length > 0 ? 422 : 200, ...questionPage(datos, borrador, mapaDe(raiz)) }
    if (datos.estado === 'vencida') return { status: 410, ...EXPIRED_DECISION }
    return { status: tarde ? 409 : 200, ...closedPage(datos, raiz, tarde) }
  }
  const recibir = async (abierto: Opened, formulario: AnswerForm): Promise<Sheet> => {
    const leida = interpretAnswer(formulario)
    if (!leida) return { status: 400, ...UNREADABLE }
    if ('fallas' in leida) return ver(abierto, { ...leida, valores: formulario })
    const { respuesta } = leida
    const { eleccion } = respuesta
    const conFalla = (falla: AnswerFault) => ver(abierto, { eleccion, valores: formulario, fallas: [falla] })
    if (formulario.seguro === 'no') return ver(abierto, { eleccion, valores: formulario, fallas: [] })
    if (eleccion === 'rechazo' && formulario.seguro !== '1') return preguntarOtraVez(abierto)
    const resultado = await decisiones.decidir(abierto.token, respuesta)
    if (resultado.ok) return { status: 303, a: abierto.token }
    switch (resultado.motivo) {
      case 'lejos': {
        const datos = await decisiones.leer(abierto.token)
        if (datos?.estado !== 'abierta') return ver(abierto, NEW_DRAFT, true)
        return { status: 422, ...farPlacePage(datos, formulario, resultado.distancia_km) }
      }
      case 'fecha_invalida':
        return conFalla({ campo: 'fecha', mensaje: 'Ese día ya no se puede: elija otro.' })
      case 'no_admitida':
        return { status: 409, ...NOT_POSSIBLE }
      case 'cerrada':
      case 'desconocida':
        return ver(abierto, NEW_DRAFT, true)
      default:
        return conFalla({
          campo: resultado.motivo === 'referencia_larga' ? 'referencia' : 'enlace',
          mensaje: resultado.mensaje,
        })
    }
  }
  const preguntarOtraVez = async (abierto: Opened): Promise<Sheet> => {
    const datos = await decisiones.leer(abierto.token)
    if (datos?.estado !== 'abierta') return ver(abierto, NEW_DRAFT, true)
    return { status: 200, ...refusalPage(datos, abierto.token) }
  }
  return { ver, recibir }
}

function closedPage(datos: DatosDeDecision, raiz: string, tarde: boolean) {
  if (datos.estado === 'decidida') return decidedPage(datos, raiz, tarde)
  return datos.estado === 'detenida' ? searchingPage(datos, raiz) : supersededPage(datos, raiz)
}
