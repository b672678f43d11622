import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express'
import type { Db } from '../../data/db.ts'
import { normalizeGuideCode } from '../../platform/codes/codes.ts'
import { Problema, problemOfFaults, uniformProblem } from '../../platform/errors.ts'
import {
  type AuthenticationDeps,
  authenticate,
  reauthenticate,
  requirePresence,
  requireScope,
} from '../http/authenticate.ts'
import { checkContentType, passStream, readBody } from '../http/body.ts'
import { requireSameOrigin } from '../http/browser.ts'
import { isForwarded } from '../http/forwarded.ts'
import type { Authenticators, Identity } from '../http/identity.ts'
import { networkOf } from '../http/network.ts'
import { methodNotAllowed, type ResponseWitness, sendResponse } from '../http/problems.ts'
import { correctCost, countUnknown, limitRate } from '../http/rateLimit.ts'
import type { Operation, OperationId } from './contract.ts'
import type { HandlerInput, HandlersWith } from './handler.ts'
import { freezeQuery, isWellWritten, type ParameterRejection, withObjects } from './parameters.ts'
import { phoneContextOf, type Validation } from './validation.ts'

/** Dependencies that {@link bindRoutes} itself uses. */
export interface BinderDeps extends AuthenticationDeps {
  db: Db
  reloj: () => Date
  validacion: Validation
}

/** Arguments of {@link bindRoutes}: the contract's operations, the handler of each, and what the middlewares need. */
export interface Binding<D extends BinderDeps> {
  operaciones: readonly Operation[]
  /** Rejects if the validation of an operation is not active. */
  comprobar: (operacion: Operation) => Promise<void>
  handlers: HandlersWith<D>
  autenticadores: Authenticators
  deps: D
  testigo?: ResponseWitness | undefined
}

/**
 * Binds every operation of the contract to its handler, by operationId. The middlewares run in the order of the call. A
 * path of the contract with another method gets 405.
 */
export function bindRoutes<D extends BinderDeps>(
  app: Express,
  { operaciones, comprobar, handlers, autenticadores, deps, testigo }: Binding<D>,
) {
  const depsDe = createDepsOf(deps)
  const porRuta = [...Map.groupBy(operaciones, ({ ruta }) => ruta)]
  for (const [ruta, suyas] of porRuta.sort(([a], [b]) => parametrosDe(a) - parametrosDe(b))) {
    // All methods of a path share one layer, because every request walks through all layers before its own.
    const deRuta = app.route(ruta.replace(/\{(\w+)\}/g, ':$1'))
    for (const operacion of suyas) {
      deRuta[operacion.metodo](
        marcar(operacion),
        requireSameOrigin(operacion, deps.navegador),
        ...requireCaller(operacion, autenticadores, deps),
        checkContentType(operacion),
        readBody(operacion),
        correctCost(operacion),
        reauthenticate(operacion, autenticadores, deps),
        ...requireValid(operacion, comprobar, deps.validacion),
        explainRefusal(operacion, deps.validacion),
        passStream(operacion),
        ejecutar(operacion, handlers, depsDe, testigo),
        countUnknown(deps.limites),
      )
    }
    deRuta.all(methodNotAllowed(suyas.map(({ metodo }) => metodo)))
  }
}

/** Returns the middlewares that refuse callers who may not call the operation, or not so often. */
export const requireCaller = (
  operacion: Operation,
  autenticadores: Authenticators,
  deps: BinderDeps,
): RequestHandler[] => [
  authenticate(operacion, autenticadores, deps),
  limitRate(operacion, deps.limites),
  requireScope(operacion),
  requirePresence(operacion, deps.reloj),
]

/** Returns the middlewares that refuse what the contract does not admit. */
export const requireValid = (
  operacion: Operation,
  comprobar: Binding<BinderDeps>['comprobar'],
  validacion: Validation,
): RequestHandler[] => [
  exigirComprobada(operacion, comprobar),
  exigirConsulta(operacion, validacion),
  ...validacion.validar(operacion),
]

/**
 * Sort key of a path, which grows with its number of parameters. Fixed segments come first: `/guias/bulk` is not a
 * guide.
 */
const parametrosDe = (ruta: string) => ruta.split('{').length

const marcar =
  (operacion: Operation): RequestHandler =>
  (req, _res, next) => {
    req.solicitud.operacion = operacion
    // Any other text in the place of a code may be personal, and is not logged.
    if (typeof req.params.guia === 'string') req.solicitud.guia = normalizeGuideCode(req.params.guia)
    // express-openapi-validator refuses HEAD. Node sends no body to a HEAD request, even after `req.method` has
    // changed.
    if (req.method === 'HEAD') req.method = 'GET'
    next()
  }

/** Creates the middleware that admits a request only after the validation of its operation was found active. */
function exigirComprobada(operacion: Operation, comprobar: Binding<BinderDeps>['comprobar']): RequestHandler {
  let comprobada = false
  return (_req, _res, next) => {
    if (comprobada) return next()
    comprobar(operacion).then(() => {
      comprobada = true
      next()
    }, next)
  }
}

/**
 * Creates the middleware that refuses query parameters that the validator accepts by mistake. These are integers in
 * unusual notation, and names with brackets, which the validator reads as arrays.
 */
const exigirConsulta = (operacion: Operation, validacion: Validation): RequestHandler => {
  const deConsulta = operacion.parametros.filter((parametro) => parametro.in === 'query')
  const nombres = new Set(deConsulta.map(({ name }) => name))
  return (req, _res, next) => {
    if (!req.originalUrl.includes('?')) return next()
    freezeQuery(req, withObjects(deConsulta, req.query))
    const conocidos = Object.keys(req.query).every((nombre) => nombres.has(nombre))
    if (conocidos && deConsulta.every((parametro) => isWellWritten(parametro, req.query[parametro.name]))) return next()
    if (operacion.rechazo) throw uniformProblem(operacion.rechazo)
    const valores = { ...req.query, ...req.params }
    const { dichas, omitidas } = validacion.explicarParametros(operacion, { status: 400 }, valores)
    throw problemOfFaults('parametro_invalido', dichas, omitidas)
  }
}

/**
 * Creates the error handler that turns the validator's refusal into a 400 about parameters or a 422 about the body. The
 * answer lists the faults in Spanish.
 */
export const explainRefusal =
  (operacion: Operation, validacion: Validation): ErrorRequestHandler =>
  (error, req, _res, next) => {
    if (!esRechazo(error)) return next(error)
    if (operacion.rechazo) return next(uniformProblem(operacion.rechazo))
    const deParametros = (error.errors ?? []).filter(({ path }) => /^\/(query|params|headers|cookies)\b/.test(path))
    if (deParametros.length > 0) {
      const cabeceras = operacion.parametros.flatMap(({ in: donde, name }) =>
        donde === 'header' ? [[name, req.headers[name.toLowerCase()]] as const] : [],
      )
      const valores = { ...req.query, ...req.params, ...Object.fromEntries(cabeceras) }
      const rechazo = { ...error, errors: deParametros }
      const { dichas, omitidas } = validacion.explicarParametros(operacion, rechazo, valores)
      return next(problemOfFaults('parametro_invalido', dichas, omitidas))
    }
    if (operacion.tipos.length === 0) {
      return next(
        new Problema('parametro_invalido', 'La ruta o los parámetros no están bien escritos.', { cause: error }),
      )
    }
    const { dichas, omitidas } = validacion.explicarCuerpo(operacion, req.body, phoneContextOf(req))
    next(problemOfFaults('validacion', dichas, omitidas))
  }

const esRechazo = (error: unknown): error is ParameterRejection =>
  error instanceof Error &&
  !(error instanceof Problema) &&
  'status' in error &&
  typeof error.status === 'number' &&
  error.status < 500

/**
 * Returns a signal that aborts when the connection closes. Created lazily: most requests finish before the client could
 * disconnect.
 */
function alCerrar(res: Response): AbortSignal {
  const control = new AbortController()
  if (res.closed) control.abort()
  else res.once('close', () => control.abort())
  return control.signal
}

/** Handler of any operation. */
export type AnyHandler<D> = (
  entrada: Record<keyof HandlerInput<OperationId>, unknown>,
  deps: D,
) => Promise<{ status: number; body: unknown; headers?: Readonly<Record<string, string | string[]>> }>

/**
 * Creates the function that returns the dependencies of a request. A merchant's dependencies see only the merchant's
 * rows, and are created once for each identity.
 */
export function createDepsOf<D extends BinderDeps>(deps: D): (identidad: Identity | undefined) => D {
  const porIdentidad = new WeakMap<Identity, D>()
  return (identidad) => {
    if (!identidad || !('comercioId' in identidad)) return deps
    let suyas = porIdentidad.get(identidad)
    if (!suyas) {
      suyas = { ...deps, db: deps.db.como('guias_api', [identidad.comercioId]).de(identidad.comercioId) }
      porIdentidad.set(identidad, suyas)
    }
    return suyas
  }
}

/** Returns a handler's input, from a request that the contract has validated. */
export const inputOf = (req: Request, res: Response): Record<keyof HandlerInput<OperationId>, unknown> => ({
  path: req.params,
  query: req.query,
  headers: req.headers,
  body: req.body,
  nulls: req.solicitud.nulls,
  identidad: req.solicitud.identidad ?? null,
  cookie: req.headers.cookie ?? '',
  agente: req.headers['user-agent'] ?? '',
  idSolicitud: req.solicitud.id,
  red: networkOf(req.ip ?? ''),
  soloCabeceras: req.solicitud.metodo === 'HEAD',
  acepta: (tipos: string[]) => req.accepts(tipos),
  reenviada: () => isForwarded(req),
  alAbandonar: () => alCerrar(res),
})

/** Returns the guide of an answer about one guide, for the log. */
const guideOf = (body: unknown): string | undefined =>
  typeof body === 'object' && body !== null && 'guia' in body && typeof body.guia === 'string' ? body.guia : undefined

const ejecutar = <D>(
  operacion: Operation,
  handlers: HandlersWith<D>,
  depsDe: (identidad: Identity | undefined) => D,
  testigo: ResponseWitness | undefined,
): RequestHandler => {
  // TypeScript cannot relate the handler of a variable id to its types. The contract's validation guarantees the types
  // instead.
  const handler = handlers[operacion.id] as unknown as AnyHandler<D>
  return async (req, res) => {
    const { status, body, headers } = await handler(inputOf(req, res), depsDe(req.solicitud.identidad))
    req.solicitud.guia ??= guideOf(body)
    const enviada = sendResponse(req, res, status, body, headers)
    testigo?.(req, enviada)
  }
}
