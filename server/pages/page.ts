import type { Express, Request } from 'express'
import { networkOf } from '../api/http/network.ts'
import { Problema } from '../platform/errors.ts'
import { Html, html } from '../platform/html.ts'
import { readGenerated } from './assets.ts'
import { frame, messagePage, ownHead, type PageContent } from './frame.ts'
import type { Front, LinkPreview } from './front.ts'
import { bodyOf, byDigest, HTML, type PageResponse, PRIVATE_HEADERS, READING_POLICY, sendPage } from './response.ts'

/** File that a page lets a person download. */
export interface PageFile {
  texto: string
  mime: string
}

/**
 * Response of a page: a document, a redirect to the address `a`, relative to the address of the request, or a file to
 * download.
 */
export type Sheet = (
  | (PageContent & { status: number })
  | { status: 303; a: string }
  | { status: 200; archivo: PageFile }
) & {
  /** Headers beside those of the page, such as cookies. */
  headers?: PageResponse['headers']
}

/** Request as a page receives it. */
export interface PageRequest {
  req: Request
  /** Path behind the page's own path, decoded; empty if it cannot be decoded. */
  rest: string
  /** Relative path from the request's path to the service root, such as `../`. */
  root: string
  /** Network of the client. Rate limits count by network. */
  red: string
  /** True if the method only reads. */
  reading: boolean
}

/** Page that is rendered for each request. */
export interface RenderedPage {
  /** Methods that the page accepts besides GET and HEAD. */
  methods?: readonly string[]
  /** Headers Content-Security-Policy and Permissions-Policy of the page, as `contentPolicy` makes them. */
  headers: Readonly<Record<string, string>>
  /** Returns the head of the page's document. */
  head(pageRequest: PageRequest): Html
  front: Front
  /** Preview that messaging apps show beside a link to the page (Open Graph). */
  preview?: LinkPreview
  /** Text at the beginning of the footer, before the telephone. */
  nota?: string
  /**
   * Returns the seconds that the client has to wait; 0 admits the request. It is called before the page looks anything
   * up.
   */
  waitSeconds(pageRequest: PageRequest): number
  handle(pageRequest: PageRequest): Promise<Sheet>
  /** Paragraph that the page shows when the service fails. */
  failure: Html
}

/**
 * Serves a page at a path and at every path below it. Answers 503 if the page fails.
 * @param isForeign tells whether another handler serves the path behind the page's path
 */
export function servePage(
  app: Express,
  path: string,
  page: RenderedPage,
  isForeign = (_rest: string, _req: Request) => false,
) {
  app.use(path, (req, res, next) => {
    if (isForeign(req.path.slice(1), req)) return next()
    const pageRequest = readPageRequest(req)
    responder(page, pageRequest)
      .catch((error: unknown) => {
        // Reports the error in the request's log line; requests without a log line have no `solicitud`.
        if (req.solicitud) req.solicitud.error = error
        return renderSheet(
          page,
          pageRequest,
          { status: 503, ...messagePage('Algo nos falló', page.failure) },
          { 'Retry-After': '10' },
        )
      })
      .then((response) => sendPage(req, res, response))
      .catch(() => res.destroy())
  })
}

function readPageRequest(req: Request): PageRequest {
  const [path = ''] = req.originalUrl.split('?')
  return {
    req,
    rest: decode(req.path.slice(1)),
    root: '../'.repeat(path.split('/').length - 2),
    red: networkOf(req.ip ?? ''),
    reading: READING_POLICY.includes(req.method),
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/**
 * Renders a page unless its network is limited. The limit is checked before any look-up, so a limited client does not
 * learn whether a guessed code exists.
 */
async function responder(page: RenderedPage, pageRequest: PageRequest): Promise<PageResponse> {
  const { methods = [] } = page
  if (!pageRequest.reading && !methods.includes(pageRequest.req.method)) {
    return renderSheet(page, pageRequest, METHOD_NOT_ALLOWED, { Allow: [...READING_POLICY, ...methods].join(', ') })
  }
  const seconds = page.waitSeconds(pageRequest)
  if (seconds > 0) return renderSheet(page, pageRequest, waitContent(seconds), { 'Retry-After': String(seconds) })
  return renderSheet(page, pageRequest, await page.handle(pageRequest))
}

function renderSheet(
  page: RenderedPage,
  pageRequest: PageRequest,
  sheet: Sheet,
  ownHeaders: Readonly<Record<string, string>> = {},
): PageResponse {
  const headers = { ...PRIVATE_HEADERS, ...page.headers, ...sheet.headers, ...ownHeaders }
  if ('a' in sheet) return { status: sheet.status, headers: { ...headers, Location: sheet.a } }
  if ('archivo' in sheet) {
    const { texto, mime } = sheet.archivo
    return { status: sheet.status, body: bodyOf(texto), headers: { ...headers, 'Content-Type': mime } }
  }
  const { front, preview, nota } = page
  // A page without a link's parcel asks for nothing, so it has nothing to say about data.
  const shownNota = sheet.status === 404 ? undefined : nota
  const frameOptions = { front, preview, nota: shownNota, head: page.head(pageRequest), root: pageRequest.root }
  return { status: sheet.status, body: bodyOf(frame(sheet, frameOptions)), headers }
}

/**
 * Returns the page for browsers whose network has no requests left, and the headers that allow the page's style.
 * @param seconds seconds that the client has to wait
 */
export function waitPage(front: Front, publicUrl: string, seconds: number) {
  const style = readGenerated('pages/home/estilo.css').toString()
  const { titulo, body } = waitContent(seconds)
  return {
    texto: frame({ titulo, body }, { front, head: ownHead(new Html(style)), root: `${publicUrl}/` }),
    headers: { ...PRIVATE_HEADERS, ...front.policyHeaders({ 'style-src': byDigest(style) }), 'Content-Type': HTML },
  }
}

const METHOD_NOT_ALLOWED: Sheet = {
  status: 405,
  ...messagePage('No se puede hacer eso aquí', html`Abra la dirección en su navegador para ver la página.`),
}

/** Returns the page for an operation's refusal of too many requests; undefined for any other error. */
export function waitSheet(error: unknown): Sheet | undefined {
  if (!(error instanceof Problema) || error.codigo !== 'demasiadas_solicitudes') return undefined
  const headers = { 'Retry-After': error.details.headers?.['Retry-After'] ?? '60' }
  return { status: 429, ...messagePage('Espere un momento', html`${error.message}`), headers }
}

const waitContent = (seconds: number) => ({
  status: 429,
  ...messagePage(
    'Espere un momento',
    html`Recibimos muchas consultas seguidas desde su conexión. Vuelva a intentarlo en ${seconds} ${seconds === 1 ? 'segundo' : 'segundos'}.`,
  ),
})
