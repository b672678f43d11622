import type { Express, Request } from 'express'
import { redDe } from '../http/red.ts'
import { leerGenerado } from './archivos.ts'
import type { Fachada, VistaPrevia } from './fachada.ts'
import { Html, html } from './html.ts'
import { type Contenido, cabezaPropia, marco, soloDice } from './marco.ts'
import { cuerpoDe, DE_LECTURA, enviar, HTML, PRIVADA, porHuella, type Respuesta } from './respuesta.ts'

/** A page's answer: something to be read, or the address to go to, relative to its own. */
export type Hoja = (Contenido & { status: number }) | { status: 303; a: string }

/** A request, as a page is told of it. */
export interface Pedido {
  req: Request
  /** The path behind the page's own, decoded; empty if it can't be. */
  resto: string
  /** The way from the request's path up to where the service begins, such as `../`. */
  raiz: string
  /** The network that the request came from: limits count by it. */
  red: string
  /** Whether the request only reads. */
  leyendo: boolean
}

/** A page that is made per request. */
export interface Pagina {
  /** The methods that the page takes beside those that only read. */
  metodos?: readonly string[]
  /** The headers that say what the page may do, as `permisos` makes them. */
  cabeceras: Readonly<Record<string, string>>
  /** The head of the page's document. */
  cabeza(pedido: Pedido): Html
  fachada: Fachada
  /** What is shown beside links to the page. */
  previa?: VistaPrevia
  /** What the page's foot says before whom to call. */
  nota?: string
  /** For how many seconds the request has to wait, asked before anything is looked at; 0 lets it through. */
  esperar(pedido: Pedido): number
  atender(pedido: Pedido): Promise<Hoja>
  /** The paragraph that the page shows when the fault is ours. */
  fallo: Html
}

/**
 * Serves a page at a path and everything below it.
 * @param ajeno whether what stands behind the page's path is somebody else's
 */
export function servirPagina(
  app: Express,
  ruta: string,
  pagina: Pagina,
  ajeno = (_resto: string, _req: Request) => false,
) {
  app.use(ruta, (req, res, next) => {
    if (ajeno(req.path.slice(1), req)) return next()
    const pedido = leerPedido(req)
    responder(pagina, pedido)
      .catch((error: unknown) => {
        // For the log line of the request, where there is one.
        if (req.solicitud) req.solicitud.error = error
        return vestir(
          pagina,
          pedido,
          { status: 503, ...soloDice('Algo nos falló', pagina.fallo) },
          { 'Retry-After': '10' },
        )
      })
      .then((respuesta) => enviar(req, res, respuesta))
      .catch(() => res.destroy())
  })
}

function leerPedido(req: Request): Pedido {
  const [ruta = ''] = req.originalUrl.split('?')
  return {
    req,
    resto: decodificar(req.path.slice(1)),
    raiz: '../'.repeat(ruta.split('/').length - 2),
    red: redDe(req.ip ?? ''),
    leyendo: DE_LECTURA.includes(req.method),
  }
}

function decodificar(texto: string): string {
  try {
    return decodeURIComponent(texto)
  } catch {
    return ''
  }
}

/** The limit comes before the answer: whoever gets through must not tell a good guess from a bad one. */
async function responder(pagina: Pagina, pedido: Pedido): Promise<Respuesta> {
  const { metodos = [] } = pagina
  if (!pedido.leyendo && !metodos.includes(pedido.req.method)) {
    return vestir(pagina, pedido, MAL_PEDIDA, { Allow: [...DE_LECTURA, ...metodos].join(', ') })
  }
  const segundos = pagina.esperar(pedido)
  if (segundos > 0) return vestir(pagina, pedido, esperen(segundos), { 'Retry-After': String(segundos) })
  return vestir(pagina, pedido, await pagina.atender(pedido))
}

function vestir(pagina: Pagina, pedido: Pedido, hoja: Hoja, propias: Readonly<Record<string, string>> = {}): Respuesta {
  const cabeceras = { ...PRIVADA, ...pagina.cabeceras, ...propias }
  if ('a' in hoja) return { status: hoja.status, cabeceras: { ...cabeceras, Location: hoja.a } }
  const { fachada, previa, nota } = pagina
  const alrededor = { fachada, previa, nota, cabeza: pagina.cabeza(pedido), raiz: pedido.raiz }
  return { status: hoja.status, cuerpo: cuerpoDe(marco(hoja, alrededor)), cabeceras }
}

/** Page that a browser gets whose network has no requests left, and the headers that let it show its style. */
export function paginaDeEspera(fachada: Fachada, urlPublica: string, segundos: number) {
  const estilo = leerGenerado('paginas/inicio/estilo.css').toString()
  const { titulo, cuerpo } = esperen(segundos)
  return {
    texto: marco({ titulo, cuerpo }, { fachada, cabeza: cabezaPropia(new Html(estilo)), raiz: `${urlPublica}/` }),
    cabeceras: { ...PRIVADA, ...fachada.permisos({ 'style-src': porHuella(estilo) }), 'Content-Type': HTML },
  }
}

const MAL_PEDIDA: Hoja = {
  status: 405,
  ...soloDice('No se puede hacer eso aquí', html`Abra la dirección en su navegador para ver la página.`),
}

const esperen = (segundos: number) => ({
  status: 429,
  ...soloDice(
    'Espere un momento',
    html`Recibimos muchas consultas seguidas desde su conexión. Vuelva a intentarlo en ${segundos} ${segundos === 1 ? 'segundo' : 'segundos'}.`,
  ),
})
