import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { Problema } from '../../platform/errors.ts'
import { Html } from '../../platform/html.ts'
import { readGenerated } from '../assets.ts'
import { frame, ownHead, type PageContent } from '../frame.ts'
import type { Front } from '../front.ts'
import { byDigest, fixedBody, PRIVATE_HEADERS, READING_POLICY, sendPage } from '../response.ts'
import { invalidLinkPage, nothingPage } from './view.ts'

/** Header of answers that depend on `Accept`. */
const VARY = { Vary: 'Accept, Accept-Encoding' }

/** Handlers that show browsers a page for unknown addresses and for signed links that are not valid. */
interface UnknownPage {
  /** Handler that is registered after all operations and pages. */
  unknown: RequestHandler
  /** Handler for addresses that earlier handlers refused. It is registered right after `requireTarget`. */
  refused: ErrorRequestHandler
  /**
   * Handler for paths with an invalid `%` escape, which Express refuses if the route has parameters. It is registered
   * last.
   */
  undecodable: ErrorRequestHandler
  /** Handler for signed links that an operation refused. It is registered last. */
  invalidLink: ErrorRequestHandler
}

/**
 * Creates the handlers that show browsers a page for unknown addresses. Requests that prefer JSON, and requests that
 * change something, go to the next handler. The page is the same for every address, so it is rendered and compressed
 * once. Its links are absolute, because the depth of its address varies.
 */
export function createUnknownPage(front: Front, publicUrl: string): UnknownPage {
  const style = readGenerated('pages/home/estilo.css').toString()
  const root = `${publicUrl}/`
  const bodyFor = (content: (front: Front, root: string) => PageContent) =>
    fixedBody(() => frame(content(front, root), { front, root, home: root, head: ownHead(new Html(style)) }))
  const unknown = { status: 404, body: bodyFor(nothingPage) }
  const invalidLink = { status: 403, body: bodyFor(invalidLinkPage) }
  const { origin } = new URL(publicUrl)
  const policy = front.policyHeaders({
    'style-src': byDigest(style),
    'form-action': `'self' ${origin}`,
    'img-src': origin,
  })
  const isFromBrowser = (req: Request) =>
    READING_POLICY.includes(req.method) && req.accepts(['json', 'html']) === 'html'
  const respond = (req: Request, res: Response, next: () => void, page = unknown) => {
    res.setHeader('Vary', 'Accept')
    if (!isFromBrowser(req)) return next()
    sendPage(req, res, { ...page, headers: { ...PRIVATE_HEADERS, ...policy, ...VARY } })
  }
  return {
    unknown: (req, res, next) => respond(req, res, next),
    refused: (error, req, res, next) => respond(req, res, () => next(error)),
    undecodable(error, req, res, next) {
      if (error instanceof URIError) respond(req, res, () => next(error))
      else next(error)
    },
    invalidLink(error, req, res, next) {
      const isLink = error instanceof Problema && error.codigo === 'enlace_invalido'
      if (!isLink) return next(error)
      req.solicitud.error = error
      respond(req, res, () => next(error), invalidLink)
    },
  }
}
