import {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express'
import type { Db } from '../../data/db.ts'
import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
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
import { type Operation, type OperationId, rootOf } from './contract.ts'
import type { HandlerInput, HandlersWith } from './handler.ts'
import { freezeQuery, isWellWritten, type ParameterRejection, withObjects } from './parameters.ts'
import { phoneContextOf, type Validation } from './validation.ts'

/** Dependencies that {@link bindRoutes} itself uses. */
export interface BinderDeps extends AuthenticationDeps {
  db: Db
  clock: () => Date
  validacion: Validation
}

/** Arguments of {@link bindRoutes}: the contract's operations, the handler of each, and what the middlewares need. */
export interface Binding<D extends BinderDeps> {
  operaciones: readonly Operation[]
  handlers: HandlersWith<D>
  authenticators: Authenticators
  deps: D
  witness?: ResponseWitness | undefined
}

/**
 * Binds every operation of the contract to its handler, by operationId. A path of the contract with another method gets
 * 405.
 */
export function bindRoutes<D extends BinderDeps>(app: Express, binding: Binding<D>): void {
  const operationsByRoot = Map.groupBy(binding.operaciones, ({ path }) => rootOf(path))
  const routers = new Map([...operationsByRoot].map(([root, some]) => [root, createRouter(some, binding)]))
  // A router compares a request with one path after the other. It therefore has only the paths of one root.
  app.use((req, res, next) => {
    const router = routers.get(rootOf(req.url))
    if (router) router(req, res, next)
    else next()
  })
}

/** Creates the router of some operations. The middlewares of an operation run in the order of the call. */
function createRouter<D extends BinderDeps>(
  operations: readonly Operation[],
  { handlers, authenticators, deps, witness }: Binding<D>,
): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const depsOf = createDepsOf(deps)
  const operationsByPath = [...Map.groupBy(operations, ({ path }) => path)]
  for (const [path, pathOperations] of operationsByPath.sort(([a], [b]) => countParameters(a) - countParameters(b))) {
    const route = router.route(path.replace(/\{(\w+)\}/g, ':$1'))
    for (const operation of pathOperations) {
      route[operation.method](
        markOperation(operation),
        requireSameOrigin(operation, deps.browser),
        ...requireCaller(operation, authenticators, deps),
        checkContentType(operation),
        readBody(operation),
        correctCost(operation),
        reauthenticate(operation, authenticators, deps),
        ...requireValid(operation, deps.validacion),
        explainRefusal(operation, deps.validacion),
        passStream(operation),
        runHandler(operation, handlers, depsOf, witness),
        countUnknown(deps.limits),
      )
    }
    route.all(methodNotAllowed(pathOperations.map(({ method }) => method)))
  }
  return router
}

/** Returns the middlewares that refuse callers who may not call the operation, or not so often. */
export const requireCaller = (
  operation: Operation,
  authenticators: Authenticators,
  deps: BinderDeps,
): RequestHandler[] => [
  authenticate(operation, authenticators, deps),
  limitRate(operation, deps.limits),
  requireScope(operation),
  requirePresence(operation, deps.clock),
]

/** Returns the middlewares that refuse what the contract does not admit. */
export const requireValid = (operation: Operation, validation: Validation): RequestHandler[] => [
  validation.whenLoaded,
  requireKnownQuery(operation, validation),
  ...validation.validate(operation),
]

/**
 * Sort key of a path, which grows with its number of parameters. Fixed segments come first: `/guias/bulk` is not a
 * guide.
 */
const countParameters = (path: string) => path.split('{').length

const markOperation =
  (operation: Operation): RequestHandler =>
  (req, _res, next) => {
    req.solicitud.operacion = operation
    // Any other text in the place of a code may be personal, and is not logged.
    if (typeof req.params.guia === 'string') req.solicitud.guia = normalizeGuideCode(req.params.guia)
    // express-openapi-validator refuses HEAD. Node sends no body to a HEAD request, even after `req.method` has
    // changed.
    if (req.method === 'HEAD') req.method = 'GET'
    next()
  }

/**
 * Creates the middleware that refuses query parameters that the validator accepts by mistake. These are integers in
 * unusual notation, and names with brackets, which the validator reads as arrays.
 */
const requireKnownQuery = (operation: Operation, validation: Validation): RequestHandler => {
  const queryParameters = operation.parameters.filter((parameter) => parameter.in === 'query')
  const names = new Set(queryParameters.map(({ name }) => name))
  return (req, _res, next) => {
    if (!req.originalUrl.includes('?')) return next()
    freezeQuery(req, withObjects(queryParameters, req.query))
    const allKnown = Object.keys(req.query).every((name) => names.has(name))
    if (allKnown && queryParameters.every((parameter) => isWellWritten(parameter, req.query[parameter.name])))
      return next()
    if (operation.rechazo) throw uniformProblem(operation.rechazo)
    const values = { ...req.query, ...req.params }
    const { listedFaults, omittedCount } = validation.explainParameters(operation, { status: 400 }, values)
    throw problemOfFaults('parametro_invalido', listedFaults, omittedCount)
  }
}

/**
 * Creates the error handler that turns the validator's refusal into a 400 about parameters or a 422 about the body. The
 * answer lists the faults in Spanish.
 */
export const explainRefusal =
  (operation: Operation, validation: Validation): ErrorRequestHandler =>
  (error, req, _res, next) => {
    if (!isRejection(error)) return next(error)
    if (operation.rechazo) return next(uniformProblem(operation.rechazo))
    const parameterErrors = (error.errors ?? []).filter(({ path }) => /^\/(query|params|headers|cookies)\b/.test(path))
    if (parameterErrors.length > 0) {
      const headers = operation.parameters.flatMap(({ in: where, name }) =>
        where === 'header' ? [[name, req.headers[name.toLowerCase()]] as const] : [],
      )
      const values = { ...req.query, ...req.params, ...Object.fromEntries(headers) }
      const refusal = { ...error, errors: parameterErrors }
      const { listedFaults, omittedCount } = validation.explainParameters(operation, refusal, values)
      return next(problemOfFaults('parametro_invalido', listedFaults, omittedCount))
    }
    if (operation.tipos.length === 0) {
      return next(
        new Problema('parametro_invalido', 'La ruta o los parámetros no están bien escritos.', { cause: error }),
      )
    }
    const { listedFaults, omittedCount } = validation.explainBody(operation, req.body, phoneContextOf(req))
    next(problemOfFaults('validacion', listedFaults, omittedCount))
  }

const isRejection = (error: unknown): error is ParameterRejection =>
  error instanceof Error &&
  !(error instanceof Problema) &&
  'status' in error &&
  typeof error.status === 'number' &&
  error.status < 500

/**
 * Returns a signal that aborts when the connection closes. Created lazily: most requests finish before the client could
 * disconnect.
 */
function signalOnClose(res: Response): AbortSignal {
  const control = new AbortController()
  if (res.closed) control.abort()
  else res.once('close', () => control.abort())
  return control.signal
}

export type AnyHandler<D> = (
  input: Record<keyof HandlerInput<OperationId>, unknown>,
  deps: D,
) => Promise<{ status: number; body: unknown; headers?: Readonly<Record<string, string | string[]>> }>

/**
 * Creates the function that returns the dependencies of a request. A merchant's dependencies see only the merchant's
 * rows, and are created once for each identity.
 */
export function createDepsOf<D extends BinderDeps>(deps: D): (identity: Identity | undefined) => D {
  const depsByIdentity = new WeakMap<Identity, D>()
  return (identity) => {
    if (!identity || !('comercioId' in identity)) return deps
    let scopedDeps = depsByIdentity.get(identity)
    if (!scopedDeps) {
      scopedDeps = { ...deps, db: deps.db.asRole('guias_api', [identity.comercioId]).forComercio(identity.comercioId) }
      depsByIdentity.set(identity, scopedDeps)
    }
    return scopedDeps
  }
}

/** Returns a handler's input, from a request that the contract has validated. */
export const inputOf = (req: Request, res: Response): Record<keyof HandlerInput<OperationId>, unknown> => ({
  path: req.params,
  query: req.query,
  headers: req.headers,
  body: req.body,
  nulls: req.solicitud.nulls,
  identity: req.solicitud.identity ?? null,
  cookie: req.headers.cookie ?? '',
  userAgent: req.headers['user-agent'] ?? '',
  requestId: req.solicitud.id,
  red: networkOf(req.ip ?? ''),
  headersOnly: req.solicitud.method === 'HEAD',
  accepts: (types: string[]) => req.accepts(types),
  isForwarded: () => isForwarded(req),
  abandonSignal: () => signalOnClose(res),
})

/** Returns the guide of an answer about one guide, for the log. */
const guideOf = (body: unknown): string | undefined =>
  typeof body === 'object' && body !== null && 'guia' in body && typeof body.guia === 'string' ? body.guia : undefined

const runHandler = <D>(
  operation: Operation,
  handlers: HandlersWith<D>,
  depsOf: (identity: Identity | undefined) => D,
  witness: ResponseWitness | undefined,
): RequestHandler => {
  // TypeScript cannot relate the handler of a variable id to its types. The contract's validation guarantees the types
  // instead.
  const handler = handlers[operation.id] as unknown as AnyHandler<D>
  return async (req, res) => {
    const { status, body, headers } = await handler(inputOf(req, res), depsOf(req.solicitud.identity))
    req.solicitud.guia ??= guideOf(body)
    const sentResponse = sendResponse(req, res, status, body, headers)
    witness?.(req, sentResponse)
  }
}
