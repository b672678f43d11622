import type { Express, Request } from 'express'
import type { Operation } from '../../api/contract/contract.ts'
import { readGenerated } from '../assets.ts'
import { frame, ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { Html } from '../html.ts'
import { byDigest, fixedBody, PRIVATE_HEADERS, READING_POLICY, sendPage } from '../response.ts'
import { paginaSinNada } from './view.ts'

/** Header of answers that depend on `Accept`. */
const VARY = { Vary: 'Accept, Accept-Encoding' }

/** First segments of the paths below which only programs ask, such as `/api`. */
const programRoots = (operaciones: readonly Operation[]) =>
  new Set(operaciones.flatMap(({ ruta }) => /^\/(\w+)\/v\d+\//.exec(ruta)?.[1] ?? []))

/**
 * Answers browsers that ask for an address where nothing is. Requests that prefer JSON, requests below the paths of an
 * API and requests that change something go on to the next handler. The page is the same for every address, so it is
 * rendered and compressed once. It names addresses in full, because its own depth varies.
 */
export function serveUnknown(app: Express, fachada: Front, urlPublica: string, operaciones: readonly Operation[]) {
  const estilo = readGenerated('paginas/inicio/estilo.css').toString()
  const raiz = `${urlPublica}/`
  const cuerpo = fixedBody(() =>
    frame(paginaSinNada(fachada, raiz), { fachada, raiz, inicio: raiz, cabeza: ownHead(new Html(estilo)) }),
  )
  const { origin } = new URL(urlPublica)
  const politica = fachada.permisos({
    'style-src': byDigest(estilo),
    'form-action': `'self' ${origin}`,
    'img-src': origin,
  })
  const programas = programRoots(operaciones)
  const deNavegador = (req: Request) =>
    READING_POLICY.includes(req.method) &&
    !programas.has(req.path.split('/', 2)[1]!) &&
    req.accepts(['json', 'html']) === 'html'
  app.use((req, res, next) => {
    res.setHeader('Vary', 'Accept')
    if (!deNavegador(req)) return next()
    sendPage(req, res, { status: 404, cuerpo, cabeceras: { ...PRIVATE_HEADERS, ...politica, ...VARY } })
  })
}
