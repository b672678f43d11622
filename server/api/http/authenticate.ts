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
  requestId: string
  /** True if the page refreshed itself, so that the person need not be there. */
  isRefresh: boolean
}

/** Header of requests with which a page refreshes itself. Such a request does not prolong the session. */
export const isRefresh = ({ headers }: Pick<Request, 'headers'>): boolean => headers['x-refresco'] !== undefined

/** Dependencies of the authentication. */
export interface AuthenticationDeps {
  browser: Browser
  limits: Limits
  /**
   * Records the use of a session, and its use from another network than that of the sign-in. The request is not refused.
   */
  onSesionUse?: (sesion: Identities['sesionDePersona'], use: UseOfSession) => void
  settings: {
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
  read(req: Request): string
  /** Returns the 401 for a credential that is not valid. */
  noVale(): Problema
  /** Returns the 401 for a demonstration credential that is used from elsewhere. */
  localOnlyProblem(): Problema
}

/**
 * Spanish reason, as part of a sentence, for refusing a demonstration credential. The service creates demonstration
 * credentials for a first try, in its default configuration with an embedded database.
 */
export const DEMO_ONLY =
  'es de demostración y solo vale en la propia máquina del servicio, sin PUBLIC_URL ni servidores intermedios'

/** Reports whether a request may use a demonstration credential: never if a proxy may have forwarded the request. */
export const acceptsDemo = ({ demostracion }: AuthenticationDeps['settings'], wasForwarded: boolean) =>
  demostracion && !wasForwarded

const unauthenticated = (detail: string) =>
  new Problema('no_autenticado', detail, { headers: { 'WWW-Authenticate': 'Bearer realm="guias"' } })

/**
 * Returns the key of an `Authorization: Bearer <key>` header (RFC 6750, 2.1); undefined if the header has another form.
 */
const llaveFrom = (authorization = ''): string | undefined => /^Bearer +([!-~]+) *$/i.exec(authorization)?.[1]

/** Creates the function that reports whether this process has already looked up a request's credential and found it. */
export const createCredentialCheck =
  ({ knows }: Authenticators, browser: Browser) =>
  (req: IncomingMessage, inCookie: boolean): boolean => {
    const { authorization } = req.headers
    const llaveOrSesion = authorization === undefined ? browser.readPersonaSesion(req) : llaveFrom(authorization)
    const presented = inCookie ? browser.readSesion(req) : llaveOrSesion
    return presented !== undefined && knows(presented)
  }

/** Key in a single `Authorization: Bearer <key>` header (RFC 6750). */
const LLAVE: Credencial = {
  read(req) {
    // Node silently joins or drops repeated headers. Two different keys are never the client's intention.
    const presentedHeaders = req.headersDistinct.authorization ?? []
    if (presentedHeaders.length > 1) throw unauthenticated('Envíe una sola cabecera Authorization.')
    const llave = llaveFrom(presentedHeaders[0])
    if (!llave) throw unauthenticated('Envíe «Authorization: Bearer <su llave>» con una llave vigente.')
    return llave
  },
  noVale: () =>
    unauthenticated('La llave no es válida para esta ruta, venció o fue revocada. Revise que esté entera y vigente.'),
  localOnlyProblem: () => unauthenticated(`La llave ${DEMO_ONLY}. Use una llave propia.`),
}

/** Answers 401 to a request without a well-formed key. Does not check if the key is valid. */
export const requireKey: RequestHandler = (req, _res, next) => {
  LLAVE.read(req)
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
 * @param readToken reads the cookie of a request
 * @param expired Spanish sentence for a session that is no longer valid
 * @param retryHint Spanish text that tells how to sign in again
 */
const inCookie = (
  readToken: (req: Request) => string | undefined,
  expired: string,
  retryHint: string,
  headers: Record<string, string>,
): Credencial => {
  const noVale = (sentence = expired) => new Problema('sesion_invalida', `${sentence}. ${retryHint}`, { headers })
  return {
    read(req) {
      const token = readToken(req)
      if (token === undefined) throw noVale('No hay ninguna sesión')
      return token
    },
    noVale,
    localOnlyProblem: () => noVale(`La sesión ${DEMO_ONLY}`),
  }
}

const forRepartidor = (browser: Browser) =>
  inCookie(
    (req) => browser.readSesion(req),
    'La sesión venció o se cerró',
    'Entre otra vez con su código.',
    SESSION_CHALLENGE,
  )
const asPersona = (browser: Browser) =>
  inCookie(
    (req) => browser.readPersonaSesion(req),
    'La sesión venció, se cerró o terminó sin uso',
    'Entre otra vez.',
    PERSON_CHALLENGE,
  )

/**
 * Creates the middleware that admits only credentials of the operation's security scheme, before a byte of the body is
 * read. Answers 401 to invalid credentials, 403 if the key does not allow the network, and 429 after too many invalid
 * credentials. The caller is stored in `req.solicitud.identity`.
 */
export function authenticate(
  { security, acceptsSesion, skipsSecondFactor }: Operation,
  authenticators: Authenticators,
  { browser, limits, settings, onSesionUse }: AuthenticationDeps,
): RequestHandler {
  if (!security) return (_req, _res, next) => next()
  const scheme = security.scheme as SecurityScheme
  const credenciales: Readonly<Record<SecurityScheme, Credencial>> = {
    llaveDeComercio: LLAVE,
    llaveDeOperacion: LLAVE,
    sesionDePersona: asPersona(browser),
    sesionDeRepartidor: forRepartidor(browser),
  }
  const por = (schemeName: SecurityScheme) => ({ verify: authenticators[schemeName], ...credenciales[schemeName] })
  const [propia, sesionCredentials] = [por(scheme), por('sesionDePersona')]
  return (req: Request, _res: Response, next: NextFunction) => {
    const { ip = '' } = req
    const usesSesion = acceptsSesion && presentsSession(req, browser)
    if (usesSesion && req.method !== 'GET' && !browser.isOwnRequest(req)) throw uniformProblem('origen_no_permitido')
    const { verify, read, noVale, localOnlyProblem } = usesSesion ? sesionCredentials : propia
    const red = networkOf(ip)
    let presented: string
    try {
      presented = read(req)
    } catch (error) {
      if (!wasCharged(req)) limits.countFailure(red)
      throw error
    }
    const ofSession = (sesion: Identities['sesionDePersona'], req: Request, instead: boolean): Identity => {
      onSesionUse?.(sesion, { red, requestId: req.solicitud.id, isRefresh: isRefresh(req) })
      if (sesion.lacksSecondFactor && !skipsSecondFactor) throw withoutSecondFactor(scheme)
      return instead ? llaveOf(sesion, scheme) : sesion
    }
    const refuse = (problema: Problema): never => {
      req.solicitud.llave = authenticators.identify(presented)
      limits.countFailure(red)
      throw problema
    }
    verify(presented, (find) => limits.lookUp(red, find))
      .then((identity) => {
        if (!identity) return refuse(noVale())
        if (identity.demostracion && !acceptsDemo(settings, isForwarded(req))) return refuse(localOnlyProblem())
        // The key's networks are checked before the rate limits. A stolen key used from another network therefore takes
        // nothing from its owner's rate.
        if ('ranges' in identity && identity.ranges.length > 0 && !isInRange(ip, identity.ranges))
          return refuse(uniformProblem('red_no_permitida'))
        limits.vouch(red)
        req.solicitud.identity = 'membresia' in identity ? ofSession(identity, req, usesSesion) : identity
        next()
      })
      .catch(next)
  }
}

/** Reports whether a request carries a person's session and no key. If a key is present, the session is ignored. */
const presentsSession = (req: Request, browser: Browser) =>
  req.headersDistinct.authorization === undefined && browser.readPersonaSesion(req) !== undefined

/**
 * Returns the key of this security scheme that a person's session stands for.
 * @throws Problema 403 if the session's membership is of another kind
 */
function llaveOf({ membresiaLlave }: Identities['sesionDePersona'], scheme: SecurityScheme): Identity {
  if (membresiaLlave && 'comercio' in membresiaLlave === (scheme === 'llaveDeComercio')) return membresiaLlave
  throw new Problema('alcance_insuficiente', OTHER_MEMBERSHIP)
}
const OTHER_MEMBERSHIP =
  'La sesión trabaja con una membresía que no es de aquí: elija otra con PATCH /operaciones/v1/sesion.'

/**
 * Returns the 403 for a session without its second factor. For operations of merchants the code is
 * `alcance_insuficiente`, because their contract does not mention sessions.
 */
const withoutSecondFactor = (scheme: SecurityScheme) =>
  scheme === 'llaveDeComercio'
    ? new Problema('alcance_insuficiente', uniformProblem('segundo_factor_requerido').message)
    : uniformProblem('segundo_factor_requerido')

/** Duration of a request, in milliseconds, after which its credential and scope are checked again. */
const SEEN_TTL_MS = 1_000

/**
 * Creates the middleware that checks credential and scope again if the request has lasted more than a second. The key
 * may have been revoked while the body arrived.
 */
export function reauthenticate(
  operation: Operation,
  authenticators: Authenticators,
  deps: AuthenticationDeps,
): RequestHandler {
  const authenticateAgain = authenticate(operation, authenticators, deps)
  return (req, res, next) => {
    if (performance.now() - req.solicitud.startedAt <= SEEN_TTL_MS) return next()
    authenticateAgain(req, res, (error?: unknown) => next(error ?? alcanceProblem(operation, req)))
  }
}

/**
 * Creates the middleware that answers 403 unless the key has every scope of the operation, before a byte of the body is
 * read.
 */
export function requireScope(operation: Operation): RequestHandler {
  return (req, _res, next) => {
    const problema = alcanceProblem(operation, req)
    // The list in the body was not read, so the request costs 1. `limitRate` had charged the cost of the largest
    // possible list.
    if (problema) req.solicitud.admission?.correct(1)
    next(problema)
  }
}

/**
 * Creates the middleware that answers 403 if the operation requires a recent proof of the person's presence. A stolen
 * cookie alone then cannot change keys or persons. Requests with a key pass.
 */
export function requirePresence({ needsPresence }: Operation, clock: () => Date): RequestHandler {
  if (!needsPresence) return (_req, _res, next) => next()
  return (req, _res, next) => {
    const { identity } = req.solicitud
    if (identity && 'presencia_en' in identity && !isPresent(identity, clock()))
      throw uniformProblem('presencia_requerida')
    next()
  }
}

/**
 * Reports whether a person has recently proved to be present. Keys, which cannot prove it, count as present. A proof
 * dated in the future, from before the clock was set back, does not count.
 */
export const isPresent = ({ presencia_en }: { presencia_en?: Date | undefined }, now: Date): boolean =>
  presencia_en === undefined || Math.abs(now.getTime() - presencia_en.getTime()) <= PRESENCE_MS

/** Returns the 403 for a key that lacks a scope of the operation; undefined if the key has all scopes. */
function alcanceProblem({ security }: Operation, { solicitud: { identity } }: Request): Problema | undefined {
  const grantedAlcances: readonly string[] = identity && 'alcances' in identity ? identity.alcances : []
  const missingAlcance = security?.alcances.find((alcance) => !grantedAlcances.includes(alcance))
  if (missingAlcance === undefined) return undefined
  const caller = identity && 'persona' in identity && identity.persona ? 'su cuenta' : 'esta llave'
  return new Problema('alcance_insuficiente', `La operación pide el alcance ${missingAlcance} y ${caller} no lo tiene.`)
}
