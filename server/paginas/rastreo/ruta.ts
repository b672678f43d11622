import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Express, Request } from 'express'
import { normalizarCodigoDeGuia } from '../../codigos/codigos.ts'
import { RAIZ } from '../../contrato/raiz.ts'
import { crearLimite } from '../../http/limite.ts'
import { Html } from '../html.ts'
import { anotarFallo, enviar, ponerCabeceras, type Respuesta, raizDesde, redDe } from '../respuesta.ts'
import type { LeerEnvio } from './envio.ts'
import {
  type Marco,
  paginaDeBusqueda,
  paginaDeEspera,
  paginaDeFallo,
  paginaDelEnvio,
  paginaDesconocida,
  paginaMalPedida,
} from './vista.ts'

export interface OpcionesDeRastreo {
  leer: LeerEnvio
  /** In milliseconds; only differences count. */
  reloj?: () => number
}

/**
 * Per minute and address, whatever is asked for. A code has 55 random bits: at this rate, among ten million guides, one is
 * guessed in some fifty years; and a whole mobile network behind one address still gets through.
 */
const CONSULTAS = 120
const PERMISOS = 'geolocation=(), camera=(), microphone=()'

/** `/r/{guia}`: where a parcel is, for whoever has its code; `/r`: where the code is typed. */
export function servirRastreo(app: Express, { leer, reloj }: OpcionesDeRastreo) {
  const css = readFileSync(new URL('server/paginas/rastreo/estilo.css', RAIZ), 'utf8')
  const csp = politica(css)
  const estilo = new Html(css)
  const limite = crearLimite(CONSULTAS, reloj)

  app.use('/r', (req, res) => {
    const marco = { estilo, raiz: raizDesde(req) }
    ponerCabeceras(res, csp, PERMISOS)
    atender(req, marco)
      .catch((error: unknown): Respuesta => {
        anotarFallo(req, error)
        return { status: 503, html: paginaDeFallo(marco), cabeceras: { 'Retry-After': '10' } }
      })
      .then((respuesta) => enviar(req, res, respuesta))
      .catch(() => res.destroy())
  })

  async function atender(req: Request, marco: Marco): Promise<Respuesta> {
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return { status: 405, html: paginaMalPedida(marco), cabeceras: { Allow: 'GET, HEAD' } }
    // Before anything is looked at: an answer that came through must not tell a good guess from a bad one.
    const espera = limite(redDe(req.ip ?? ''))
    if (espera > 0)
      return { status: 429, html: paginaDeEspera(marco, espera), cabeceras: { 'Retry-After': String(espera) } }
    if (req.path === '/') return buscar(req.query.guia, marco)
    const codigo = normalizarCodigoDeGuia(decodificar(req.path.slice(1)))
    const envio = codigo === undefined ? undefined : await leer(codigo)
    return envio ? { status: 200, html: paginaDelEnvio(envio, marco) } : { status: 404, html: paginaDesconocida(marco) }
  }
}

/** What was typed → its page. */
function buscar(tecleado: unknown, marco: Marco): Respuesta {
  if (tecleado === undefined || tecleado === '') return { status: 200, html: paginaDeBusqueda(marco) }
  const codigo = typeof tecleado === 'string' ? normalizarCodigoDeGuia(tecleado) : undefined
  if (codigo === undefined) return { status: 404, html: paginaDesconocida(marco) }
  // Relative to the page, so that it holds below any prefix.
  return { status: 303, html: '', cabeceras: { Location: `${marco.raiz}r/${codigo}` } }
}

function decodificar(texto: string): string {
  try {
    return decodeURIComponent(texto)
  } catch {
    return ''
  }
}

/** Nothing is loaded and nothing runs: the style is the one in the page, the icon is in its link. */
const politica = (css: string) =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(css).digest('base64')}'`,
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
