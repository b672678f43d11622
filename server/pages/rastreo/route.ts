import type { Express } from 'express'
import { perMinute } from '../../api/limits/buckets.ts'
import { NetworkLimit } from '../../api/limits/networkLimit.ts'
import { normalizeGuideCode } from '../../platform/codes/codes.ts'
import { readGenerated } from '../assets.ts'
import { answerCode } from '../codeForm.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { Html } from '../html.ts'
import { type PageRequest, type Sheet, servePage } from '../page.ts'
import { byDigest } from '../response.ts'
import type { LeerEnvio } from './envio.ts'
import { FALLO_DE_RASTREO, paginaDelEnvio, paginaDesconocida } from './view.ts'

export interface OpcionesDeRastreo {
  fachada: Front
  leer: LeerEnvio
  /** Clock of the rate limit, in milliseconds; only differences count. */
  reloj?: () => number
}

/**
 * Maximum requests per minute from one network. A code has 55 random bits: with ten million guides, a network at this
 * rate guesses one code in about fifty years. The limit is high enough for a whole mobile network behind one address.
 */
const CONSULTAS = perMinute(120)

/** Link preview of every tracking page. It does not show the parcel's state, because messaging apps keep previews. */
export const VISTA_PREVIA = { titulo: 'Siga su envío', descripcion: 'Vea por dónde va su paquete y qué sigue.' }

/**
 * Serves `/r/{guia}`, which shows the progress of a parcel to anyone who has its code. Also serves `/r`, which
 * redirects there from a typed code.
 */
export function servirRastreo(app: Express, { fachada, leer, reloj }: OpcionesDeRastreo) {
  const leerHecho = (archivo: string) => readGenerated(`paginas/rastreo/${archivo}`).toString()
  const [estilo, programa] = [leerHecho('estilo.css'), leerHecho('navegador.js')]
  const [cabeza, guion] = [ownHead(new Html(estilo)), new Html(programa)]
  const limite = new NetworkLimit(CONSULTAS, reloj ? { reloj } : {})
  servePage(app, '/r', {
    cabeceras: fachada.permisos({
      'style-src': byDigest(estilo),
      'script-src': byDigest(programa),
      'connect-src': "'self'",
      'form-action': "'self'",
    }),
    cabeza: () => cabeza,
    fachada,
    previa: VISTA_PREVIA,
    fallo: FALLO_DE_RASTREO,
    esperar: ({ red }) => limite.take(red),
    async atender(pedido) {
      const { req, resto, raiz } = pedido
      if (req.path === '/') return buscar(pedido)
      const codigo = normalizeGuideCode(resto)
      const envio = codigo === undefined ? undefined : await leer(codigo)
      return envio
        ? { status: 200, ...paginaDelEnvio(envio, { raiz, guion, fachada }) }
        : { status: 404, ...paginaDesconocida(raiz) }
    },
  })
}

/** Redirects from a typed code to the parcel's page. */
const buscar = ({ req, raiz }: PageRequest): Sheet =>
  answerCode(req.query.guia, {
    empty: { status: 303, a: raiz || './' },
    unknown: (tecleado) => paginaDesconocida(raiz, tecleado),
    below: `${raiz}r/`,
  })
