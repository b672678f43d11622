import type { IncomingMessage } from 'node:http'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { Problema, uniformProblem } from '../../platform/errors.ts'
import type { Operation } from '../contract/contract.ts'
import type { Limits } from '../limits/limits.ts'
import type { Browser } from './browser.ts'
import { isForwarded } from './forwarded.ts'
import type { Authenticators, SecurityScheme } from './identity.ts'
import { isInRange, networkOf } from './network.ts'
import { wasCharged } from './networkGate.ts'

/** Dependencies of the authentication. */
export interface AuthenticationDeps {
  navegador: Browser
  limites: Limits
  ajustes: {
    /** True where keys and codes made for a first try are valid. */
    readonly demostracion: boolean
  }
}

/** Way in which requests carry a credential, and the problems that answer a missing or invalid credential. */
interface Credencial {
  /**
   * Returns the credential that the request carries.
   * @throws Problema 401 if the credential is missing or malformed
   */
  leer(req: Request): string
  /** Returns the 401 for a credential that is not valid. */
  noVale(): Problema
  /** Returns the 401 for a demonstration credential that is used from elsewhere. */
  soloAqui(): Problema
}

/**
 * Spanish reason, as part of a sentence, for refusing a demonstration credential. The service creates demonstration
 * credentials for a first try, in its default configuration with an embedded database.
 */
export const DEMO_ONLY =
  'es de demostración y solo vale en la propia máquina del servicio, sin PUBLIC_URL ni servidores intermedios'

/** Reports whether a request may use a demonstration credential: never if a proxy may have forwarded the request. */
export const acceptsDemo = ({ demostracion }: AuthenticationDeps['ajustes'], reenviada: boolean) =>
  demostracion && !reenviada

const noAutenticado = (detail: string) =>
  new Problema('no_autenticado', detail, { cabeceras: { 'WWW-Authenticate': 'Bearer realm="guias"' } })

/**
 * Returns the key of an `Authorization: Bearer <key>` header (RFC 6750, 2.1); undefined if the header has another form.
 */
const llaveDe = (authorization = ''): string | undefined => /^Bearer +([!-~]+) *$/i.exec(authorization)?.[1]

/** Creates the function that reports whether this process has already looked up a request's credential and found it. */
export const createCredentialCheck =
  ({ conoce }: Authenticators, navegador: Browser) =>
  (req: IncomingMessage, enCookie: boolean): boolean => {
    const presentada = enCookie ? navegador.leerSesion(req) : llaveDe(req.headers.authorization)
    return presentada !== undefined && conoce(presentada)
  }

/** Key in a single `Authorization: Bearer <key>` header (RFC 6750). */
const LLAVE: Credencial = {
  leer(req) {
    // Node silently joins or drops repeated headers. Two different keys are never the client's intention.
    const presentadas = req.headersDistinct.authorization ?? []
    if (presentadas.length > 1) throw noAutenticado('Envíe una sola cabecera Authorization.')
    const llave = llaveDe(presentadas[0])
    if (!llave) throw noAutenticado('Envíe «Authorization: Bearer <su llave>» con una llave vigente.')
    return llave
  },
  noVale: () =>
    noAutenticado('La llave no es válida para esta ruta, venció o fue revocada. Revise que esté entera y vigente.'),
  soloAqui: () => noAutenticado(`La llave ${DEMO_ONLY}. Use una llave propia.`),
}

/**
 * Challenge of a 401 about a session. A 401 must name a scheme (RFC 9110, 11.6.1), and none exists for cookies. This
 * challenge therefore only says where the credential belongs.
 */
export const SESSION_CHALLENGE = { 'WWW-Authenticate': 'Cookie realm="repartidor"' }

const cookie = (navegador: Browser): Credencial => {
  const noVale = (que = 'La sesión venció o se cerró') =>
    new Problema('sesion_invalida', `${que}. Entre otra vez con su código.`, { cabeceras: SESSION_CHALLENGE })
  return {
    leer(req) {
      const token = navegador.leerSesion(req)
      if (token === undefined) throw noVale('No hay ninguna sesión')
      return token
    },
    noVale,
    soloAqui: () => noVale(`La sesión ${DEMO_ONLY}`),
  }
}

/**
 * Creates the middleware that admits only credentials of the operation's security scheme, before a byte of the body is
 * read. Answers 401 to invalid credentials, 403 if the key does not allow the network, and 429 after too many invalid
 * credentials. The caller is stored in `req.solicitud.identidad`.
 */
export function authenticate(
  { seguridad }: Operation,
  autenticadores: Authenticators,
  { navegador, limites, ajustes }: AuthenticationDeps,
): RequestHandler {
  if (!seguridad) return (_req, _res, next) => next()
  const verificar = autenticadores[seguridad.esquema as SecurityScheme]
  const { leer, noVale, soloAqui } = seguridad.enCookie ? cookie(navegador) : LLAVE
  return (req: Request, _res: Response, next: NextFunction) => {
    const { ip = '' } = req
    const red = networkOf(ip)
    let presentada: string
    try {
      presentada = leer(req)
    } catch (error) {
      if (!wasCharged(req)) limites.countFailure(red)
      throw error
    }
    verificar(presentada, (buscar) => limites.lookUp(red, buscar))
      .then((identidad) => {
        if (!identidad) {
          limites.countFailure(red)
          throw noVale()
        }
        if (identidad.demostracion && !acceptsDemo(ajustes, isForwarded(req))) {
          limites.countFailure(red)
          throw soloAqui()
        }
        // This check comes before the rate limits. A stolen key used elsewhere therefore takes nothing from its owner's
        // rate.
        if ('rangos' in identidad && identidad.rangos.length > 0 && !isInRange(ip, identidad.rangos)) {
          limites.countFailure(red)
          throw uniformProblem('red_no_permitida')
        }
        limites.vouch(red)
        req.solicitud.identidad = identidad
        next()
      })
      .catch(next)
  }
}

/** Duration of a request, in milliseconds, after which its credential and scope are checked again. */
const VIGENCIA_DE_LO_VISTO = 1_000

/**
 * Creates the middleware that checks credential and scope again if the request has lasted more than a second. The key
 * may have been revoked while the body arrived.
 */
export function reauthenticate(
  operacion: Operation,
  autenticadores: Authenticators,
  deps: AuthenticationDeps,
): RequestHandler {
  const autenticarDeNuevo = authenticate(operacion, autenticadores, deps)
  return (req, res, next) => {
    if (performance.now() - req.solicitud.inicio <= VIGENCIA_DE_LO_VISTO) return next()
    autenticarDeNuevo(req, res, (error?: unknown) => next(error ?? problemaDeAlcance(operacion, req)))
  }
}

/**
 * Creates the middleware that answers 403 unless the key has every scope of the operation, before a byte of the body is
 * read.
 */
export function requireScope(operacion: Operation): RequestHandler {
  return (req, _res, next) => {
    const problema = problemaDeAlcance(operacion, req)
    // The list in the body is not read, so the request costs 1. `limitRate` took the cost of the largest list.
    if (problema) req.solicitud.admision?.corregir(1)
    next(problema)
  }
}

/** Returns the 403 for a key that lacks a scope of the operation; undefined if the key has all scopes. */
function problemaDeAlcance({ seguridad }: Operation, { solicitud: { identidad } }: Request): Problema | undefined {
  const suyos: readonly string[] = identidad && 'alcances' in identidad ? identidad.alcances : []
  const falta = seguridad?.alcances.find((alcance) => !suyos.includes(alcance))
  if (falta === undefined) return undefined
  return new Problema('alcance_insuficiente', `La operación pide el alcance ${falta} y esta llave no lo tiene.`)
}
