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
  readSesion(req: Pick<IncomingMessage, 'headers'>): string | undefined
  /** Returns the `Set-Cookie` header that opens a session for this number of seconds; 0 ends the session. */
  setSesion(token: string, seconds: number): string
  /**
   * Returns the text that identifies a known phone, from its `Cookie` header; undefined without a well-formed cookie.
   */
  readDevice(cookie: string): string | undefined
  /** Returns the `Set-Cookie` header that stores this text in the browser for a year. */
  setDevice(text: string): string
  /** Returns the token of a person's session. Works like {@link readSesion}, which is for couriers. */
  readPersonaSesion(req: Pick<IncomingMessage, 'headers'>): string | undefined
  /** Returns the `Set-Cookie` header of a person's session for this number of seconds; 0 ends the session. */
  setPersonaSesion(token: string, seconds: number): string
  /** Returns the token of the browser that asked for a code, from its `Cookie` header. */
  readSignIn(cookie: string): string | undefined
  /** Returns the `Set-Cookie` header that binds a sign-in code to the browser; 0 seconds end it. */
  setSignIn(token: string, seconds: number): string
  /** Returns the token of the browser that asked for a challenge of a passkey, from its `Cookie` header. */
  readChallenge(cookie: string): string | undefined
  /** Returns the `Set-Cookie` header that binds a challenge to the browser; 0 seconds end it. */
  setChallenge(token: string, seconds: number): string
  /** Returns the token of the browser whose sign-in waits for the second factor, from its `Cookie` header. */
  readPartialSignIn(cookie: string): string | undefined
  /**
   * Returns the `Set-Cookie` header that binds a sign-in that waits for its second factor to the browser; 0 seconds end
   * it.
   */
  setPartialSignIn(token: string, seconds: number): string
  /** Returns the text that identifies a person who has used the browser before, from its `Cookie` header. */
  readKnownPerson(cookie: string): string | undefined
  /** Returns the `Set-Cookie` header that stores this text in the browser for a year. */
  setKnownPerson(text: string): string
  /** Reports whether a page of the service itself sent the request. */
  isOwnRequest(req: Pick<IncomingMessage, 'headers'>): boolean
}

const REPARTIDOR_PATH = '/repartidor'
const SESION = { nombre: 'guias_repartidor', forma: /^[\w-]{43}$/ }
const DEVICE = { nombre: 'guias_dispositivo', forma: /^[0-9a-f-]{36}\.[\w-]{43}$/ }
const PERSONA_SESION = { nombre: 'guias_sesion', forma: /^[\w-]{43}$/ }
const SIGN_IN = { nombre: 'guias_entrada', forma: /^[\w-]{43}$/ }
const CHALLENGE = { nombre: 'guias_reto', forma: /^[\w-]{43}$/ }
const HALF_DONE = { nombre: 'guias_a_medias', forma: /^[\w-]{43}$/ }
const KNOWN_PERSON = { nombre: 'guias_conocido', forma: /^[0-9a-f-]{36}\.[\w-]{43}$/ }
const ONE_YEAR_S = 365 * 86_400

/**
 * Creates the reader and writer of cookies and origins.
 * @param publicUrl base URL at which browsers reach the service; with https, browsers send the cookies over https only
 */
export function createBrowser(publicUrl: string): Browser {
  const { protocol, origin, pathname } = new URL(publicUrl || 'http://localhost')
  const isSecure = protocol === 'https:'
  // With the prefix `__Secure-`, browsers refuse a cookie of the same name from a page without https (RFC 6265bis,
  // 4.1.3).
  const securePrefix = isSecure ? '__Secure-' : ''
  const path = pathname.replace(/\/$/, '') + REPARTIDOR_PATH
  // With the prefix `__Host-`, browsers also refuse a cookie that a sibling domain or another path sets (RFC 6265bis,
  // 4.1.3).
  const hostPrefix = isSecure ? '__Host-' : ''
  const read = ({ nombre, forma }: typeof SESION, cookie = '', namePrefix = securePrefix) => {
    const cookieStart = `${namePrefix}${nombre}=`
    const matchingCookies = cookie.split(/; */).filter((cookiePart) => cookiePart.startsWith(cookieStart))
    const value = matchingCookies[0]?.slice(cookieStart.length)
    return matchingCookies.length === 1 && value !== undefined && forma.test(value) ? value : undefined
  }
  const setCookie = ({ nombre }: typeof SESION, value: string, seconds: number) =>
    `${securePrefix}${nombre}=${value}; Max-Age=${seconds}; Path=${path}; HttpOnly;${isSecure ? ' Secure;' : ''} SameSite=Strict`
  // `Lax`, so that a link in a mail opens a page of the service with the cookie. A request that changes something must
  // also come from a page of the service (`isOwnRequest`).
  const setHostCookie = ({ nombre }: typeof SESION, value: string, seconds: number) =>
    `${hostPrefix}${nombre}=${value}; Max-Age=${seconds}; Path=/; HttpOnly;${isSecure ? ' Secure;' : ''} SameSite=Lax`
  return {
    readPersonaSesion: ({ headers }) => read(PERSONA_SESION, headers.cookie, hostPrefix),
    setPersonaSesion: (token, seconds) => setHostCookie(PERSONA_SESION, token, seconds),
    readSignIn: (cookie) => read(SIGN_IN, cookie, hostPrefix),
    readChallenge: (cookie) => read(CHALLENGE, cookie, hostPrefix),
    setChallenge: (token, seconds) => setHostCookie(CHALLENGE, token, seconds),
    readPartialSignIn: (cookie) => read(HALF_DONE, cookie, hostPrefix),
    setPartialSignIn: (token, seconds) => setHostCookie(HALF_DONE, token, seconds),
    readKnownPerson: (cookie) => read(KNOWN_PERSON, cookie, hostPrefix),
    setKnownPerson: (text) => setHostCookie(KNOWN_PERSON, text, ONE_YEAR_S),
    setSignIn: (token, seconds) => setHostCookie(SIGN_IN, token, seconds),
    readSesion: ({ headers }) => read(SESION, headers.cookie),
    setSesion: (token, seconds) => setCookie(SESION, token, seconds),
    readDevice: (cookie) => read(DEVICE, cookie),
    setDevice: (text) => setCookie(DEVICE, text, ONE_YEAR_S),
    isOwnRequest({ headers }) {
      const { origin: statedOrigin, host = '', 'sec-fetch-site': fetchSite } = headers
      // Browsers that predate `Sec-Fetch-Site`, and all browsers without https, send only `Origin`.
      if (fetchSite !== undefined && fetchSite !== 'same-origin') return false
      if (statedOrigin === undefined) return fetchSite === 'same-origin'
      // The service is also reachable by other names, such as localhost or its address. A page cannot choose the `Host`
      // header.
      return statedOrigin === origin || statedOrigin === `${protocol}//${host}`
    },
  }
}

/**
 * Creates the middleware that answers 403 when another site's page made a browser send the request with its session.
 * `SameSite` alone is not enough, because it admits sibling domains.
 */
export function requireSameOrigin({ needsSameOrigin: sameOrigin }: Operation, browser: Browser): RequestHandler {
  return (req, _res, next) => {
    if (sameOrigin && !browser.isOwnRequest(req)) throw uniformProblem('origen_no_permitido')
    next()
  }
}
