import type { Express } from 'express'
import type { Deps } from '../../domain/deps.ts'
import { normalizeGuideCode } from '../../platform/codes/codes.ts'
import { readGenerated } from '../assets.ts'
import { answerCode } from '../codeForm.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { Html } from '../html.ts'
import { type Page, type Sheet, servePage } from '../page.ts'
import { byDigest } from '../response.ts'
import { leerEntrega } from './entrega.ts'
import { FALLO_DE_VERIFICACION, paginaDesconocida, paginaDeVerificacion, paginaPorCodigo } from './view.ts'

type DepsDeVerificacion = Pick<Deps, 'db' | 'limiteDeVerificacion' | 'ajustes'>

/**
 * Serves `/verificar/{guia}`, which tells the holder of a PDF whether it is the guide's proof of delivery. The page
 * sends the digest of the PDF to an operation one path segment below, which the contract describes.
 */
export function servirVerificacion(app: Express, fachada: Front, deps: DepsDeVerificacion) {
  const leer = (archivo: string) => readGenerated(`paginas/verificar/${archivo}`).toString()
  const [estilo, programa] = [leer('estilo.css'), leer('navegador.js')]
  const [cabeza, guion] = [ownHead(new Html(estilo)), new Html(programa)]
  const pagina = {
    cabeceras: fachada.permisos({
      'style-src': byDigest(estilo),
      'script-src': byDigest(programa),
      'connect-src': "'self'",
      'form-action': "'self'",
    }),
    cabeza: () => cabeza,
    fachada,
    fallo: FALLO_DE_VERIFICACION,
    esperar: ({ red }) => deps.limiteDeVerificacion.take(red),
    async atender({ req, resto, raiz }) {
      if (req.path === '/') return buscar(req.query.guia, raiz)
      const codigo = normalizeGuideCode(resto)
      const entrega = codigo === undefined ? undefined : await leerEntrega(deps, codigo)
      return entrega
        ? { status: 200, ...paginaDeVerificacion(entrega, raiz, guion) }
        : { status: 404, ...paginaDesconocida(raiz) }
    },
  } satisfies Page
  servePage(app, '/verificar', pagina, (resto) => resto.includes('/'))
}

/** Asks for the code of the proof, and redirects from a typed code to its page. */
const buscar = (tecleado: unknown, raiz: string): Sheet =>
  answerCode(tecleado, {
    empty: { status: 200, ...paginaPorCodigo(raiz) },
    unknown: (mal) => paginaDesconocida(raiz, mal),
    below: `${raiz}verificar/`,
  })
