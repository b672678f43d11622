import type { IncomingMessage } from 'node:http'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { Problema, uniformProblem } from '../../platform/errors.ts'
import { type Operation, PRESENCE_MS } from '../contract/contract.ts'
import type { Limits } from '../limits/limits.ts'
import type { Browser } from './browser.ts'
import { isForwarded } from './forwarded.ts'
import type { Authenticators, Identities, Identity, SecurityScheme } from './identity.ts'
import { isInRange, networkOf } from './network.ts'
import { wasCharged } from './networkGate.ts'

/** Use of a session by a request. */
export interface UseOfSession {
  red: string
  idSolicitud: string
  /** True if the page refreshed itself, so that the person need not be there. */
  refresco: boolean
}

/** Header of requests with which a page refreshes itself. Such a request does not prolong the session. */
export const isRefresh = ({ headers }: Pick<Request, 'headers'>): boolean => headers['x-refresco'] !== undefined

/** Dependencies of the authentication. */
export interface AuthenticationDeps {
  navegador: Browser
  limites: Limits
  /**
   * Records the use of a session, and its use from another network than that of the sign-in. The request is not refused.
   */
  alUsarSesion?: (sesion: Identities['sesionDePersona'], uso: UseOfSession) => void
  ajustes: {
    /** True if keys and codes for a first try (demonstration credentials) are valid. */
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
    const { authorization } = req.headers
    const deLlave = authorization === undefined ? navegador.leerSesionDePersona(req) : llaveDe(authorization)
    const presentada = enCookie ? navegador.leerSesion(req) : deLlave
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

/** Answers 401 to a request without a well-formed key. Does not check if the key is valid. */
export const requireKey: RequestHandler = (req, _res, next) => {
  LLAVE.leer(req)
  next()
}

/**
 * Challenge of a 401 about a session. A 401 must name a scheme (RFC 9110, 11.6.1), and none exists for cookies. This
 * challenge therefore only says in which cookie the credential is sent.
 */
export const SESSION_CHALLENGE = { 'WWW-Authenticate': 'Cookie realm="repartidor"' }
/** Challenge of a 401 about a person's session, like {@link SESSION_CHALLENGE}. */
export const PERSON_CHALLENGE = { 'WWW-Authenticate': 'Cookie realm="personas"' }

/**
 * Creates the scheme for a session in a cookie.
 * @param leerToken reads the cookie of a request
 * @param vencida Spanish sentence for a session that is no longer valid
 * @param otraVez Spanish text that tells how to sign in again
 */
const enCookie = (
  leerToken: (req: Request) => string | undefined,
  vencida: string,
  otraVez: string,
  cabeceras: Record<string, string>,
): Credencial => {
  const noVale = (que = vencida) => new Problema('sesion_invalida', `${que}. ${otraVez}`, { cabeceras })
  return {
    leer(req) {
      const token = leerToken(req)
      if (token === undefined) throw noVale('No hay ninguna sesión')
      return token
    },
    noVale,
    soloAqui: () => noVale(`La sesión ${DEMO_ONLY}`),
  }
}

const deRepartidor = (navegador: Browser) =>
  enCookie(
    (req) => navegador.leerSesion(req),
    'La sesión venció o se cerró',
    'Entre otra vez con su código.',
    SESSION_CHALLENGE,
  )
const dePersona = (navegador: Browser) =>
  enCookie(
    (req) => navegador.leerSesionDePersona(req),
    'La sesión venció, se cerró o terminó sin uso',
    'Entre otra vez.',
    PERSON_CHALLENGE,
  )

/**
 * Creates the middleware that admits only credentials of the operation's security scheme, before a byte of the body is
 * read. Answers 401 to invalid credentials, 403 if the key does not allow the network, and 429 after too many invalid
 * credentials. The caller is stored in `req.solicitud.identidad`.
 */
export function authenticate(
  { seguridad, conSesion, sinSegundoFactor }: Operation,
  autenticadores: Authenticators,
  { navegador, limites, ajustes, alUsarSesion }: AuthenticationDeps,
): RequestHandler {
  if (!seguridad) return (_req, _res, next) => next()
  const esquema = seguridad.esquema as SecurityScheme
  const credenciales: Readonly<Record<SecurityScheme, Credencial>> = {
    llaveDeComercio: LLAVE,
    llaveDeOperacion: LLAVE,
    sesionDePersona: dePersona(navegador),
    sesionDeRepartidor: deRepartidor(navegador),
  }
  const por = (cual: SecurityScheme) => ({ verificar: autenticadores[cual], ...credenciales[cual] })
  const [propia, porSesion] = [por(esquema), por('sesionDePersona')]
  return (req: Request, _res: Response, next: NextFunction) => {
    const { ip = '' } = req
    const enSesion = conSesion && presentsSession(req, navegador)
    if (enSesion && req.method !== 'GET' && !navegador.esPropia(req)) throw uniformProblem('origen_no_permitido')
    const { verificar, leer, noVale, soloAqui } = enSesion ? porSesion : propia
    const red = networkOf(ip)
    let presentada: string
    try {
      presentada = leer(req)
    } catch (error) {
      if (!wasCharged(req)) limites.countFailure(red)
      throw error
    }
    const ofSession = (sesion: Identities['sesionDePersona'], req: Request, instead: boolean): Identity => {
      alUsarSesion?.(sesion, { red, idSolicitud: req.solicitud.id, refresco: isRefresh(req) })
      if (sesion.faltaSegundoFactor && !sinSegundoFactor) throw withoutSecondFactor(esquema)
      return instead ? keyOf(sesion, esquema) : sesion
    }
    const refuse = (problema: Problema): never => {
      req.solicitud.llave = autenticadores.nombrar(presentada)
      limites.countFailure(red)
      throw problema
    }
    verificar(presentada, (buscar) => limites.lookUp(red, buscar))
      .then((identidad) => {
        if (!identidad) return refuse(noVale())
        if (identidad.demostracion && !acceptsDemo(ajustes, isForwarded(req))) return refuse(soloAqui())
        // The key's networks are checked before the rate limits. A stolen key used from another network therefore takes
        // nothing from its owner's rate.
        if ('rangos' in identidad && identidad.rangos.length > 0 && !isInRange(ip, identidad.rangos))
          return refuse(uniformProblem('red_no_permitida'))
        limites.vouch(red)
        req.solicitud.identidad = 'membresia' in identidad ? ofSession(identidad, req, enSesion) : identidad
        next()
      })
      .catch(next)
  }
}

/** Reports whether a request carries a person's session and no key. If a key is present, the session is ignored. */
const presentsSession = (req: Request, navegador: Browser) =>
  req.headersDistinct.authorization === undefined && navegador.leerSesionDePersona(req) !== undefined

/**
 * Returns the key of this security scheme that a person's session stands for.
 * @throws Problema 403 if the session's membership is of another kind
 */
function keyOf({ como }: Identities['sesionDePersona'], esquema: SecurityScheme): Identity {
  if (como && 'comercio' in como === (esquema === 'llaveDeComercio')) return como
  throw new Problema('alcance_insuficiente', OTRA_MEMBRESIA)
}
const OTRA_MEMBRESIA =
  'La sesión trabaja con una membresía que no es de aquí: elija otra con PATCH /operaciones/v1/sesion.'

/**
 * Returns the 403 for a session without its second factor. For operations of merchants the code is
 * `alcance_insuficiente`, because their contract does not mention sessions.
 */
const withoutSecondFactor = (esquema: SecurityScheme) =>
  esquema === 'llaveDeComercio'
    ? new Problema('alcance_insuficiente', uniformProblem('segundo_factor_requerido').message)
    : uniformProblem('segundo_factor_requerido')

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
    // The list in the body was not read, so the request costs 1. `limitRate` had charged the cost of the largest
    // possible list.
    if (problema) req.solicitud.admision?.corregir(1)
    next(problema)
  }
}

/**
 * Creates the middleware that answers 403 if the operation requires a recent proof of the person's presence. A stolen
 * cookie alone then cannot change keys or persons. Requests with a key pass.
 */
export function requirePresence({ presencia }: Operation, reloj: () => Date): RequestHandler {
  if (!presencia) return (_req, _res, next) => next()
  return (req, _res, next) => {
    const { identidad } = req.solicitud
    if (identidad && 'presencia_en' in identidad && !isPresent(identidad, reloj()))
      throw uniformProblem('presencia_requerida')
    next()
  }
}

/**
 * Reports whether a person has recently proved to be present. Keys, which cannot prove it, count as present. A proof
 * dated in the future, from before the clock was set back, does not count.
 */
export const isPresent = ({ presencia_en }: { presencia_en?: Date | undefined }, ahora: Date): boolean =>
  presencia_en === undefined || Math.abs(ahora.getTime() - presencia_en.getTime()) <= PRESENCE_MS

/** Returns the 403 for a key that lacks a scope of the operation; undefined if the key has all scopes. */
function problemaDeAlcance({ seguridad }: Operation, { solicitud: { identidad } }: Request): Problema | undefined {
  const suyos: readonly string[] = identidad && 'alcances' in identidad ? identidad.alcances : []
  const falta = seguridad?.alcances.find((alcance) => !suyos.includes(alcance))
  if (falta === undefined) return undefined
  const quien = identidad && 'persona' in identidad && identidad.persona ? 'su cuenta' : 'esta llave'
  return new Problema('alcance_insuficiente', `La operación pide el alcance ${falta} y ${quien} no lo tiene.`)
}
