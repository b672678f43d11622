import type { Express, Request } from 'express'
import { networkOf } from '../api/http/network.ts'
import { Problema } from '../platform/errors.ts'
import { readGenerated } from './assets.ts'
import { frame, messagePage, ownHead, type PageContent } from './frame.ts'
import type { Front, LinkPreview } from './front.ts'
import { Html, html } from './html.ts'
import { bodyOf, byDigest, HTML, type PageResponse, PRIVATE_HEADERS, READING_POLICY, sendPage } from './response.ts'

/** Response of a page: a document, or a redirect to the address `a`, relative to the address of the request. */
export type Sheet = ((PageContent & { status: number }) | { status: 303; a: string }) & {
  /** Headers beside those of the page, such as cookies. */
  cabeceras?: PageResponse['cabeceras']
}

/** Request as a page receives it. */
export interface PageRequest {
  req: Request
  /** Path behind the page's own path, decoded; empty if it cannot be decoded. */
  resto: string
  /** Relative path from the request's path to the service root, such as `../`. */
  raiz: string
  /** Network of the client. Rate limits count by network. */
  red: string
  /** True if the method only reads. */
  leyendo: boolean
}

/** Page that is rendered for each request. */
export interface Page {
  /** Methods that the page accepts besides GET and HEAD. */
  metodos?: readonly string[]
  /** Headers Content-Security-Policy and Permissions-Policy of the page, as `contentPolicy` makes them. */
  cabeceras: Readonly<Record<string, string>>
  /** Returns the head of the page's document. */
  cabeza(pedido: PageRequest): Html
  fachada: Front
  /** Preview that messaging apps show beside a link to the page (Open Graph). */
  previa?: LinkPreview
  /** Text at the beginning of the footer, before the telephone. */
  nota?: string
  /**
   * Returns the seconds that the client has to wait; 0 admits the request. It is called before the page looks anything
   * up.
   */
  esperar(pedido: PageRequest): number
  atender(pedido: PageRequest): Promise<Sheet>
  /** Paragraph that the page shows when the service fails. */
  fallo: Html
}

/**
 * Serves a page at a path and at every path below it. Answers 503 if the page fails.
 * @param ajeno tells whether another handler serves the path behind the page's path
 */
export function servePage(app: Express, ruta: string, pagina: Page, ajeno = (_resto: string, _req: Request) => false) {
  app.use(ruta, (req, res, next) => {
    if (ajeno(req.path.slice(1), req)) return next()
    const pedido = leerPedido(req)
    responder(pagina, pedido)
      .catch((error: unknown) => {
        // Reports the error in the request's log line; requests without a log line have no `solicitud`.
        if (req.solicitud) req.solicitud.error = error
        return vestir(
          pagina,
          pedido,
          { status: 503, ...messagePage('Algo nos falló', pagina.fallo) },
          { 'Retry-After': '10' },
        )
      })
      .then((respuesta) => sendPage(req, res, respuesta))
      .catch(() => res.destroy())
  })
}

function leerPedido(req: Request): PageRequest {
  const [ruta = ''] = req.originalUrl.split('?')
  return {
    req,
    resto: decodificar(req.path.slice(1)),
    raiz: '../'.repeat(ruta.split('/').length - 2),
    red: networkOf(req.ip ?? ''),
    leyendo: READING_POLICY.includes(req.method),
  }
}

function decodificar(texto: string): string {
  try {
    return decodeURIComponent(texto)
  } catch {
    return ''
  }
}

/**
 * Renders a page unless its network is limited. The limit is checked before any look-up, so a limited client does not
 * learn whether a guessed code exists.
 */
async function responder(pagina: Page, pedido: PageRequest): Promise<PageResponse> {
  const { metodos = [] } = pagina
  if (!pedido.leyendo && !metodos.includes(pedido.req.method)) {
    return vestir(pagina, pedido, MAL_PEDIDA, { Allow: [...READING_POLICY, ...metodos].join(', ') })
  }
  const segundos = pagina.esperar(pedido)
  if (segundos > 0) return vestir(pagina, pedido, esperen(segundos), { 'Retry-After': String(segundos) })
  return vestir(pagina, pedido, await pagina.atender(pedido))
}

function vestir(
  pagina: Page,
  pedido: PageRequest,
  hoja: Sheet,
  propias: Readonly<Record<string, string>> = {},
): PageResponse {
  const cabeceras = { ...PRIVATE_HEADERS, ...pagina.cabeceras, ...hoja.cabeceras, ...propias }
  if ('a' in hoja) return { status: hoja.status, cabeceras: { ...cabeceras, Location: hoja.a } }
  const { fachada, previa, nota } = pagina
  const alrededor = { fachada, previa, nota, cabeza: pagina.cabeza(pedido), raiz: pedido.raiz }
  return { status: hoja.status, cuerpo: bodyOf(frame(hoja, alrededor)), cabeceras }
}

/**
 * Returns the page for browsers whose network has no requests left, and the headers that allow the page's style.
 * @param segundos seconds that the client has to wait
 */
export function waitPage(fachada: Front, urlPublica: string, segundos: number) {
  const estilo = readGenerated('paginas/inicio/estilo.css').toString()
  const { titulo, cuerpo } = esperen(segundos)
  return {
    texto: frame({ titulo, cuerpo }, { fachada, cabeza: ownHead(new Html(estilo)), raiz: `${urlPublica}/` }),
    cabeceras: { ...PRIVATE_HEADERS, ...fachada.permisos({ 'style-src': byDigest(estilo) }), 'Content-Type': HTML },
  }
}

const MAL_PEDIDA: Sheet = {
  status: 405,
  ...messagePage('No se puede hacer eso aquí', html`Abra la dirección en su navegador para ver la página.`),
}

/** Returns the page for an operation's refusal of too many requests; undefined for any other error. */
export function waitSheet(error: unknown): Sheet | undefined {
  if (!(error instanceof Problema) || error.codigo !== 'demasiadas_solicitudes') return undefined
  const cabeceras = { 'Retry-After': error.detalles.cabeceras?.['Retry-After'] ?? '60' }
  return { status: 429, ...messagePage('Espere un momento', html`${error.message}`), cabeceras }
}

const esperen = (segundos: number) => ({
  status: 429,
  ...messagePage(
    'Espere un momento',
    html`Recibimos muchas consultas seguidas desde su conexión. Vuelva a intentarlo en ${segundos} ${segundos === 1 ? 'segundo' : 'segundos'}.`,
  ),
})
