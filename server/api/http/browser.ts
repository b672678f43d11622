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
  /** Returns the token of a person's session. Works like {@link leerSesion}, which is for couriers. */
  leerSesionDePersona(req: Pick<IncomingMessage, 'headers'>): string | undefined
  /** Returns the `Set-Cookie` header of a person's session for this number of seconds; 0 ends the session. */
  ponerSesionDePersona(token: string, segundos: number): string
  /** Returns the token of the browser that asked for a code, from its `Cookie` header. */
  leerEntrada(cookie: string): string | undefined
  /** Returns the `Set-Cookie` header that binds a sign-in code to the browser; 0 seconds end it. */
  ponerEntrada(token: string, segundos: number): string
  /** Returns the token of the browser that asked for a challenge of a passkey, from its `Cookie` header. */
  leerReto(cookie: string): string | undefined
  /** Returns the `Set-Cookie` header that binds a challenge to the browser; 0 seconds end it. */
  ponerReto(token: string, segundos: number): string
  /** Returns the token of the browser whose sign-in waits for the second factor, from its `Cookie` header. */
  leerEntradaAMedias(cookie: string): string | undefined
  /**
   * Returns the `Set-Cookie` header that binds a sign-in that waits for its second factor to the browser; 0 seconds end
   * it.
   */
  ponerEntradaAMedias(token: string, segundos: number): string
  /** Returns the text that identifies a person who has used the browser before, from its `Cookie` header. */
  leerConocido(cookie: string): string | undefined
  /** Returns the `Set-Cookie` header that stores this text in the browser for a year. */
  ponerConocido(texto: string): string
  /** Reports whether a page of the service itself sent the request. */
  esPropia(req: Pick<IncomingMessage, 'headers'>): boolean
}

const RUTA = '/repartidor'
const SESION = { nombre: 'guias_repartidor', forma: /^[\w-]{43}$/ }
const DISPOSITIVO = { nombre: 'guias_dispositivo', forma: /^[0-9a-f-]{36}\.[\w-]{43}$/ }
const SESION_DE_PERSONA = { nombre: 'guias_sesion', forma: /^[\w-]{43}$/ }
const ENTRADA = { nombre: 'guias_entrada', forma: /^[\w-]{43}$/ }
const RETO = { nombre: 'guias_reto', forma: /^[\w-]{43}$/ }
const A_MEDIAS = { nombre: 'guias_a_medias', forma: /^[\w-]{43}$/ }
const CONOCIDO = { nombre: 'guias_conocido', forma: /^[0-9a-f-]{36}\.[\w-]{43}$/ }
const UN_ANO = 365 * 86_400

/**
 * Creates the reader and writer of cookies and origins.
 * @param urlPublica base URL at which browsers reach the service; with https, browsers send the cookies over https only
 */
export function createBrowser(urlPublica: string): Browser {
  const { protocol, origin, pathname } = new URL(urlPublica || 'http://localhost')
  const seguro = protocol === 'https:'
  // With the prefix `__Secure-`, browsers refuse a cookie of the same name from a page without https (RFC 6265bis,
  // 4.1.3).
  const prefijo = seguro ? '__Secure-' : ''
  const ruta = pathname.replace(/\/$/, '') + RUTA
  // With the prefix `__Host-`, browsers also refuse a cookie that a sibling domain or another path sets (RFC 6265bis,
  // 4.1.3).
  const propio = seguro ? '__Host-' : ''
  const leer = ({ nombre, forma }: typeof SESION, cookie = '', delante = prefijo) => {
    const inicio = `${delante}${nombre}=`
    const suyas = cookie.split(/; */).filter((galleta) => galleta.startsWith(inicio))
    const valor = suyas[0]?.slice(inicio.length)
    return suyas.length === 1 && valor !== undefined && forma.test(valor) ? valor : undefined
  }
  const poner = ({ nombre }: typeof SESION, valor: string, segundos: number) =>
    `${prefijo}${nombre}=${valor}; Max-Age=${segundos}; Path=${ruta}; HttpOnly;${seguro ? ' Secure;' : ''} SameSite=Strict`
  // `Lax`, so that a link in a mail opens a page of the service with the cookie. A request that changes something must
  // also come from a page of the service (`esPropia`).
  const ponerPropia = ({ nombre }: typeof SESION, valor: string, segundos: number) =>
    `${propio}${nombre}=${valor}; Max-Age=${segundos}; Path=/; HttpOnly;${seguro ? ' Secure;' : ''} SameSite=Lax`
  return {
    leerSesionDePersona: ({ headers }) => leer(SESION_DE_PERSONA, headers.cookie, propio),
    ponerSesionDePersona: (token, segundos) => ponerPropia(SESION_DE_PERSONA, token, segundos),
    leerEntrada: (cookie) => leer(ENTRADA, cookie, propio),
    leerReto: (cookie) => leer(RETO, cookie, propio),
    ponerReto: (token, segundos) => ponerPropia(RETO, token, segundos),
    leerEntradaAMedias: (cookie) => leer(A_MEDIAS, cookie, propio),
    ponerEntradaAMedias: (token, segundos) => ponerPropia(A_MEDIAS, token, segundos),
    leerConocido: (cookie) => leer(CONOCIDO, cookie, propio),
    ponerConocido: (texto) => ponerPropia(CONOCIDO, texto, UN_ANO),
    ponerEntrada: (token, segundos) => ponerPropia(ENTRADA, token, segundos),
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
 * Creates the middleware that answers 403 when another site's page made a browser send the request with its session.
 * `SameSite` alone is not enough, because it admits sibling domains.
 */
export function requireSameOrigin({ mismoOrigen }: Operation, navegador: Browser): RequestHandler {
  return (req, _res, next) => {
    if (mismoOrigen && !navegador.esPropia(req)) throw uniformProblem('origen_no_permitido')
    next()
  }
}
