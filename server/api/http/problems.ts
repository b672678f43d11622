import { pipeline } from 'node:stream'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { Problema, translateError } from '../../platform/errors.ts'
import type { Operation } from '../contract/contract.ts'
import { etagMatches, etagOf } from './conditional.ts'
import { SECURITY_HEADERS } from './headers.ts'
import { createNearestPath } from './nearestPath.ts'
import { byAccept } from './rfc9457.ts'
import { ByteStream } from './stream.ts'

type Value = string | string[]

/** Flat list of headers, each name before its value; Node writes the list unchanged. */
type HeaderList = Value[]

/** Default headers of every answer of the merchants' API. An answer can replace each of them with its own value. */
const API_HEADERS: readonly string[] = Object.entries({ ...SECURITY_HEADERS, 'Cache-Control': 'no-store' }).flat()

/** Answer as sent, without the headers of the connection. */
interface SentResponse {
  status: number
  readonly headers: Readonly<Record<string, unknown>>
  body: unknown
}

/**
 * Writes the answer of an operation or the body of a problem. Objects are sent as JSON and strings as plain text,
 * unless the headers declare another type. For a conditional operation, a client that already has the same bytes gets a
 * 304.
 * @returns the answer as sent, for {@link ResponseWitness}
 */
export function sendResponse(
  req: Request,
  res: Response,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, Value>> = {},
): SentResponse {
  const { operacion } = req.solicitud
  const headerList = headerListFor(req, status, headers)
  if (body instanceof ByteStream) {
    setHeader(headerList, 'Content-Type', body.mime)
    if (body.bytes !== undefined) setHeader(headerList, 'Content-Length', String(body.bytes))
    writeHead(res, status, headerList)
    sendStream(req, res, body)
    return sentResponse(res, status, headerList, body)
  }
  if (body === undefined) {
    writeHead(res, status, headerList).end()
    return sentResponse(res, status, headerList, body)
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  if (status === 200 && operacion?.conditional) {
    const etag = etagOf(text)
    setHeader(headerList, 'ETag', etag)
    setHeader(headerList, 'Cache-Control', headers['Cache-Control'] ?? 'private, no-cache')
    if (etagMatches(req.headers['if-none-match'], etag)) {
      writeHead(res, 304, headerList).end()
      return sentResponse(res, 304, headerList, undefined)
    }
  }
  if (headers['Content-Type'] === undefined)
    headerList.push('Content-Type', typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json')
  setHeader(headerList, 'Content-Length', String(Buffer.byteLength(text)))
  writeHead(res, status, headerList).end(text)
  return sentResponse(res, status, headerList, body)
}

/** Returns the headers that do not depend on the body: the answer's own, the rate limits' and the defaults. */
function headerListFor(req: Request, status: number, ownHeaders: Readonly<Record<string, Value>>): HeaderList {
  const { id, isApi, admission } = req.solicitud
  const headerList: HeaderList = isApi ? API_HEADERS.slice() : ['Cache-Control', 'no-store']
  if (isApi) headerList.push('X-Request-Id', id)
  for (const name in ownHeaders) setHeader(headerList, name, ownHeaders[name]!)
  if (admission && status < 500 && status !== 401) {
    const { headers } = admission
    setHeader(headerList, 'RateLimit', headers.RateLimit)
    setHeader(headerList, 'RateLimit-Policy', headers['RateLimit-Policy'])
  }
  return headerList
}

/** Adds a header, or replaces the header of the same name. */
function setHeader(headerList: HeaderList, name: string, value: Value): void {
  for (let i = 0; i < headerList.length; i += 2) {
    if (headerList[i] !== name) continue
    headerList[i + 1] = value
    return
  }
  headerList.push(name, value)
}

// A list saves an object of twenty members for each answer. Node's types declare only lists of numbers and strings.
const writeHead = (res: Response, status: number, headerList: HeaderList) =>
  res.writeHead(status, headerList as string[])

const sentResponse = (res: Response, status: number, headerList: HeaderList, body: unknown): SentResponse => ({
  status,
  // Headers that only tests read: those of middlewares come first, and those of the answer replace them.
  get headers() {
    const headerPairs = headerList.flatMap((name, i) => (i % 2 === 0 ? [[name, headerList[i + 1]] as const] : []))
    return { ...(res.req.solicitud.isApi ? {} : res.getHeaders()), ...Object.fromEntries(headerPairs) }
  },
  body,
})

/**
 * Maximum time in milliseconds in which a client reads nothing of a streamed answer. Afterwards the connection is
 * closed.
 */
const STREAM_PATIENCE_MS = 30_000

function sendStream(req: Request, res: Response, { content }: ByteStream) {
  if (req.solicitud.method === 'HEAD') {
    content.destroy()
    return void res.end()
  }
  res.setTimeout(STREAM_PATIENCE_MS, () => res.destroy())
  pipeline(content, res, (error) => {
    // A client that disconnects early is not a fault of the service. A failing disk is a fault, and the client gets a
    // broken connection.
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') req.solicitud.error = error
  })
}

/** Function that tests pass to see every answer. Throws if the contract does not declare the answer. */
export type ResponseWitness = (req: Request, sentResponse: SentResponse) => void

/**
 * Creates the error handler that turns every error into its answer, in Spanish. The body is application/json, or RFC
 * 9457's form if `Accept` names application/problem+json. Closes the connection if the headers were already sent.
 */
export function renderProblems(publicUrl: string, witness?: ResponseWitness): ErrorRequestHandler {
  return (error, req, res, _next) => {
    const problema = fromExpress(error) ?? translateError(error)
    req.solicitud.error = problema.cause ?? problema
    if (res.headersSent) return void res.destroy()
    const { tipo, body } = byAccept(problema.present(req.solicitud.id, publicUrl), req.headers.accept)
    const sentResponse = sendResponse(req, res, problema.status, body, {
      'Content-Type': tipo,
      ...problema.details.headers,
    })
    witness?.(req, sentResponse)
  }
}

/**
 * Returns the problem for an error that Express itself raised (a path with invalid percent-encoding); else undefined.
 */
function fromExpress(error: unknown): Problema | undefined {
  if (!(error instanceof URIError)) return undefined
  return new Problema('parametro_invalido', 'La ruta no está bien codificada: revise los signos % de la dirección.', {
    cause: error,
  })
}

/** Creates the handler that answers 404 to a path that names no operation, page or file. */
export function createUnknownRoute(operations: readonly Operation[]): RequestHandler {
  const nearestPath = createNearestPath(operations.map(({ path }) => path))
  return ({ path }) => {
    const similarPath = nearestPath(path)
    const pathWithoutSlash = path.endsWith('/') ? path.slice(0, -1) : path
    const remedy =
      similarPath !== undefined && similarPath !== pathWithoutSlash
        ? `¿Quiso decir ${similarPath.slice(0, 200)}?`
        : path.endsWith('/') && path !== '/'
          ? 'Quite la / del final.'
          : 'Revise cómo está escrita, también las mayúsculas.'
    throw new Problema(
      'ruta_desconocida',
      `No hay ninguna operación en ${path.slice(0, 200)}. ${remedy} Las rutas de comercios empiezan por /api/v1.`,
    )
  }
}

/** Creates the handler that answers 405 with the allowed methods in `Allow` (RFC 9110, 15.5.6). */
export const methodNotAllowed = (methods: readonly string[]) => {
  const allow = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])).join(', ')
  return () => {
    throw new Problema('metodo_no_permitido', `Use uno de estos métodos: ${allow}.`, { headers: { Allow: allow } })
  }
}
