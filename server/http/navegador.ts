import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import type { Operacion } from '../contrato/contrato.ts'
import { problemaUniforme } from '../errores.ts'

/** Reads and writes what browsers send along by themselves: our cookies, and where a request comes from. */
export interface Navegador {
  /** The session's token; undefined if there is none, or more than one and nobody knows whose they are. */
  leerSesion(req: Pick<IncomingMessage, 'headers'>): string | undefined
  /** The `Set-Cookie` header that opens a session for so many seconds; 0 ends it. */
  ponerSesion(token: string, segundos: number): string
  /** What the browser is known by, out of its `Cookie` header; undefined if it has nothing of that form. */
  leerDispositivo(cookie: string): string | undefined
  /** The `Set-Cookie` header that leaves there, for a year, what the browser is known by. */
  ponerDispositivo(texto: string): string
  /** Whether one of the service's own pages sent the request. */
  esPropia(req: Pick<IncomingMessage, 'headers'>): boolean
}

const RUTA = '/repartidor'
const SESION = { nombre: 'guias_repartidor', forma: /^[\w-]{43}$/ }
const DISPOSITIVO = { nombre: 'guias_dispositivo', forma: /^[0-9a-f-]{36}\.[\w-]{43}$/ }
const UN_ANO = 365 * 86_400

/**
 * Makes what reads and writes cookies and origins.
 * @param urlPublica where browsers find the service; with https the cookie goes nowhere else
 */
export function crearNavegador(urlPublica: string): Navegador {
  const { protocol, origin, pathname } = new URL(urlPublica || 'http://localhost')
  const seguro = protocol === 'https:'
  // The prefix makes browsers refuse what a page without https tries to put in its place (RFC 6265bis, 4.1.3).
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
      // Browsers older than Sec-Fetch-Site, and all of them without https, say only the origin.
      if (sitio !== undefined && sitio !== 'same-origin') return false
      if (dicho === undefined) return sitio === 'same-origin'
      // Another name of the same service (localhost, its address) is its own origin, too: no page chooses its `Host`.
      return dicho === origin || dicho === `${protocol}//${host}`
    },
  }
}

/**
 * Answers 403 to what another site's page makes a courier's browser send; SameSite alone lets a sibling domain through.
 */
export function exigirPropia({ mismoOrigen }: Operacion, navegador: Navegador): RequestHandler {
  return (req, _res, next) => {
    if (mismoOrigen && !navegador.esPropia(req)) throw problemaUniforme('origen_no_permitido')
    next()
  }
}
