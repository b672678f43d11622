import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { uniformProblem } from '../../platform/errors.ts'
import type { Operation } from '../contract/contract.ts'

/** Reads and writes what browsers send on their own: the service's cookies and the origin of a request. */
export interface Browser {
  /**
   * Returns the session's token. Undefined without a well-formed cookie, or with several, because their owner is
   * unknown.
   */
  leerSesion(req: Pick<IncomingMessage, 'headers'>): string | undefined
  /** Returns the `Set-Cookie` header that opens a session for this number of seconds; 0 ends the session. */
  ponerSesion(token: string, segundos: number): string
  /**
   * Returns the text that identifies a known phone, from its `Cookie` header; undefined without a well-formed cookie.
   */
  leerDispositivo(cookie: string): string | undefined
  /** Returns the `Set-Cookie` header that stores this text in the browser for a year. */
  ponerDispositivo(texto: string): string
  /** Reports whether a page of the service itself sent the request. */
  esPropia(req: Pick<IncomingMessage, 'headers'>): boolean
}

const RUTA = '/repartidor'
const SESION = { nombre: 'guias_repartidor', forma: /^[\w-]{43}$/ }
const DISPOSITIVO = { nombre: 'guias_dispositivo', forma: /^[0-9a-f-]{36}\.[\w-]{43}$/ }
const UN_ANO = 365 * 86_400

/**
 * Creates the reader and writer of cookies and origins.
 * @param urlPublica base URL at which browsers reach the service; with https, browsers send the cookies over https only
 */
export function createBrowser(urlPublica: string): Browser {
  const { protocol, origin, pathname } = new URL(urlPublica || 'http://localhost')
  const seguro = protocol === 'https:'
  // With this prefix, browsers refuse a cookie of the same name from a page without https (RFC 6265bis, 4.1.3).
  const prefijo = seguro ? '__Secure-' : ''
  const ruta = pathname.replace(/\/$/, '') + RUTA
  const leer = ({ nombre, forma }: typeof SESION, cookie = '') => {
    const inicio = `${prefijo}${nombre}=`
    const suyas = cookie.split(/; */).filter((galleta) => galleta.startsWith(inicio))
    const valor = suyas[0]?.slice(inicio.length)
    return suyas.length === 1 && valor !== undefined && forma.test(valor) ? valor : undefined
  }
  const poner = ({ nombre }: typeof SESION, valor: string, segundos: number) =>
    `${prefijo}${nombre}=${valor}; Max-Age=${segundos}; Path=${ruta}; HttpOnly;${seguro ? ' Secure;' : ''} SameSite=Strict`
  return {
    leerSesion: ({ headers }) => leer(SESION, headers.cookie),
    ponerSesion: (token, segundos) => poner(SESION, token, segundos),
    leerDispositivo: (cookie) => leer(DISPOSITIVO, cookie),
    ponerDispositivo: (texto) => poner(DISPOSITIVO, texto, UN_ANO),
    esPropia({ headers }) {
      const { origin: dicho, host = '', 'sec-fetch-site': sitio } = headers
      // Browsers that predate `Sec-Fetch-Site`, and all browsers without https, send only `Origin`.
      if (sitio !== undefined && sitio !== 'same-origin') return false
      if (dicho === undefined) return sitio === 'same-origin'
      // The service is also reachable by other names, such as localhost or its address. A page cannot choose the `Host`
      // header.
      return dicho === origin || dicho === `${protocol}//${host}`
    },
  }
}

/**
 * Creates the middleware that answers 403 when another site's page made a courier's browser send the request.
 * `SameSite` alone is not enough, because it admits sibling domains.
 */
export function requireSameOrigin({ mismoOrigen }: Operation, navegador: Browser): RequestHandler {
  return (req, _res, next) => {
    if (mismoOrigen && !navegador.esPropia(req)) throw uniformProblem('origen_no_permitido')
    next()
  }
}
