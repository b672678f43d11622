import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import type { Operaciones } from '../../generated/contract/operations.ts'
import { correctCost } from '../http/rateLimit.ts'
import type { RequestState } from '../http/request.ts'
import type { Operation, OperationId } from './contract.ts'
import type { DeclaredResponse, HandlerInput } from './handler.ts'
import {
  type AnyHandler,
  type BinderDeps,
  type Binding,
  createDepsOf,
  explainRefusal,
  inputOf,
  requireCaller,
  requireValid,
} from './routes.ts'

/** Parts of the request that a page makes to an operation of the API. */
export interface CallParts<O extends OperationId> {
  path?: HandlerInput<O>['path']
  /** Query parameters. A repeated parameter has an array of values. */
  query?: Readonly<Record<string, string | readonly string[]>>
  /** Body of the request. Undefined members are left out. */
  body?: object
  /** `Idempotency-Key` of the request. */
  key?: string | undefined
}

/** Successful answer of an operation. */
export type GoodResponse<O extends OperationId> = Extract<
  DeclaredResponse<O>,
  { status: keyof Operaciones[O]['exitos'] }
>

/**
 * Calls an operation of the contract on behalf of the person whose browser sent `req` to a page. Session, limits,
 * scope, proof of presence, validation and audit work as for any other request.
 * @throws Problema as the operation would answer it
 */
export type CallOperation = <O extends OperationId>(
  req: Request,
  id: O,
  parts?: CallParts<O>,
) => Promise<GoodResponse<O>>

type Prepared = (req: Request, res: Response) => Promise<unknown>

/** Creates the function with which pages call operations, within this process and without a network connection. */
export function createCalls<D extends BinderDeps>(binding: Omit<Binding<D>, 'witness'>): CallOperation {
  const byId = new Map(binding.operaciones.map((operation) => [operation.id, operation]))
  const prepared = new Map<OperationId, Prepared>()
  const depsOf = createDepsOf(binding.deps)
  return async (req, id, parts = {}) => {
    const operation = byId.get(id)!
    let call = prepared.get(id)
    if (!call) {
      call = prepare(binding, operation, depsOf)
      prepared.set(id, call)
    }
    const own = requestFor(req, operation, parts)
    try {
      return (await call(own, req.res!)) as never
    } finally {
      own.solicitud.admission?.finish()
    }
  }
}

/** Returns a request like the browser's, but with the path, query, body and key of the operation. */
function requestFor(
  req: Request,
  { method: verb, path: template }: Operation,
  { path, query = {}, body, key }: Pick<CallParts<OperationId>, 'query' | 'body' | 'key'> & { path?: unknown },
): Request {
  const params = (path ?? {}) as Readonly<Record<string, string>>
  const url = template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) search.append(name, one)
  const full = search.size === 0 ? url : `${url}?${search}`
  const method = verb.toUpperCase()
  const { id } = req.solicitud
  return Object.create(req, {
    method: { value: method },
    url: { value: full, writable: true },
    originalUrl: { value: full, writable: true },
    baseUrl: { value: '', writable: true },
    // The browser's own preference is for pages, and a key of its request is not the operation's. A page reads JSON.
    headers: { value: { ...req.headers, accept: 'application/json', 'idempotency-key': key } },
    params: { value: params, writable: true },
    // Converts the body as JSON would: undefined members disappear.
    body: { value: body && JSON.parse(JSON.stringify(body)), writable: true },
    solicitud: { value: { id, method, startedAt: performance.now(), isApi: false } satisfies RequestState },
  }) as Request
}

function prepare<D extends BinderDeps>(
  { authenticators, deps, handlers }: Omit<Binding<D>, 'witness'>,
  operation: Operation,
  depsOf: ReturnType<typeof createDepsOf<D>>,
): Prepared {
  const before = [
    ...requireCaller(operation, authenticators, deps),
    correctCost(operation),
    ...requireValid(operation, deps.validacion),
  ]
  const explain = explainRefusal(operation, deps.validacion)
  const handler = handlers[operation.id] as unknown as AnyHandler<D>
  return async (req, res) => {
    try {
      for (const middleware of before) await passed(middleware, req, res)
    } catch (error) {
      throw await explained(explain, error, req, res)
    }
    return handler(inputOf(req, res), depsOf(req.solicitud.identity))
  }
}

/** Runs a middleware. Rejects with the error that the middleware passes to `next`. */
const passed = (middleware: RequestHandler, req: Request, res: Response) =>
  new Promise<void>((resolve, reject) => {
    middleware(req, res, (error?: unknown) => (error ? reject(error) : resolve()))
  })

/** Returns the error that an error handler produces from another error. */
const explained = (handler: ErrorRequestHandler, error: unknown, req: Request, res: Response) =>
  new Promise<unknown>((resolve) => {
    handler(error, req, res, resolve)
  })
