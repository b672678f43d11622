import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Express, Request } from 'express'
import { normalizarCodigoDeGuia } from '../../codigos/codigos.ts'
import { RAIZ } from '../../contrato/raiz.ts'
import type { Deps } from '../../deps.ts'
import { crearReloj } from '../../tiempo/reloj.ts'
import { zonaDe } from '../../tiempo/zona.ts'
import { Html } from '../html.ts'
import { anotarFallo, enviar, ponerCabeceras, type Respuesta, raizDesde, redDe } from '../respuesta.ts'
import { leerEntrega } from './entrega.ts'
import {
  type Marco,
  paginaDeEspera,
  paginaDeFallo,
  paginaDesconocida,
  paginaDeVerificacion,
  paginaMalPedida,
} from './vista.ts'

type DepsDeVerificacion = Pick<Deps, 'db' | 'limiteDeVerificacion' | 'zonaHoraria'>

const PERMISOS = 'geolocation=(), camera=(), microphone=()'

/** `/verificar/{guia}`: whether a PDF is a guide's proof of delivery, for whoever holds it. What it asks stands in the contract. */
export function servirVerificacion(app: Express, { db, limiteDeVerificacion, zonaHoraria }: DepsDeVerificacion) {
  const leer = (ruta: string) => readFileSync(new URL(ruta, RAIZ), 'utf8')
  const [css, js] = [leer('server/paginas/verificar/estilo.css'), leer('server/contrato/generado/paginas/verificar.js')]
  const csp = politica(css, js)
  const [estilo, guion] = [new Html(css), new Html(js)]

  app.use('/verificar', (req, res, next) => {
    // One step further down are the contract's operations.
    if (req.path.slice(1).includes('/')) return next()
    const marco = { estilo, guion, raiz: raizDesde(req) }
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
    const espera = limiteDeVerificacion(redDe(req.ip ?? ''))
    if (espera > 0)
      return { status: 429, html: paginaDeEspera(marco, espera), cabeceras: { 'Retry-After': String(espera) } }
    const codigo = normalizarCodigoDeGuia(decodificar(req.path.slice(1)))
    const entrega = codigo === undefined ? undefined : await leerEntrega(db, codigo)
    if (!entrega) return { status: 404, html: paginaDesconocida(marco) }
    const zona = zonaDe(entrega, zonaHoraria)
    return { status: 200, html: paginaDeVerificacion(entrega, crearReloj(zona), zona, marco) }
  }
}

function decodificar(texto: string): string {
  try {
    return decodeURIComponent(texto)
  } catch {
    return ''
  }
}

/** Style and script are the ones in the page; it asks nobody but this service. */
const politica = (css: string, js: string) => {
  const huella = (texto: string) => `'sha256-${createHash('sha256').update(texto).digest('base64')}'`
  return [
    "default-src 'none'",
    `style-src ${huella(css)}`,
    `script-src ${huella(js)}`,
    "connect-src 'self'",
    'img-src data:',
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
