import { pipeline } from 'node:stream'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { Problema, translateError } from '../../platform/errors.ts'
import type { Operation } from '../contract/contract.ts'
import { etagMatches, etagOf } from './conditional.ts'
import { SECURITY_HEADERS } from './headers.ts'
import { createNearestPath } from './nearestPath.ts'
import { byAccept } from './rfc9457.ts'
import { ByteStream } from './stream.ts'

type Valor = string | string[]

/** Flat list of headers, each name before its value; Node writes the list unchanged. */
type Lista = Valor[]

/** Default headers of every answer of the merchants' API. An answer can replace each of them with its own value. */
const DE_API: readonly string[] = Object.entries({ ...SECURITY_HEADERS, 'Cache-Control': 'no-store' }).flat()

/** Answer as sent, without the headers of the connection. */
interface Enviada {
  status: number
  readonly cabeceras: Readonly<Record<string, unknown>>
  cuerpo: unknown
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
  cuerpo: unknown,
  cabeceras: Readonly<Record<string, Valor>> = {},
): Enviada {
  const { operacion } = req.solicitud
  const lista = cabecerasDe(req, status, cabeceras)
  if (cuerpo instanceof ByteStream) {
    poner(lista, 'Content-Type', cuerpo.mime)
    if (cuerpo.bytes !== undefined) poner(lista, 'Content-Length', String(cuerpo.bytes))
    escribirCabeza(res, status, lista)
    enviarFlujo(req, res, cuerpo)
    return enviada(res, status, lista, cuerpo)
  }
  if (cuerpo === undefined) {
    escribirCabeza(res, status, lista).end()
    return enviada(res, status, lista, cuerpo)
  }
  const texto = typeof cuerpo === 'string' ? cuerpo : JSON.stringify(cuerpo)
  if (status === 200 && operacion?.condicional) {
    const etag = etagOf(texto)
    poner(lista, 'ETag', etag)
    poner(lista, 'Cache-Control', cabeceras['Cache-Control'] ?? 'private, no-cache')
    if (etagMatches(req.headers['if-none-match'], etag)) {
      escribirCabeza(res, 304, lista).end()
      return enviada(res, 304, lista, undefined)
    }
  }
  if (cabeceras['Content-Type'] === undefined)
    lista.push('Content-Type', typeof cuerpo === 'string' ? 'text/plain; charset=utf-8' : 'application/json')
  poner(lista, 'Content-Length', String(Buffer.byteLength(texto)))
  escribirCabeza(res, status, lista).end(texto)
  return enviada(res, status, lista, cuerpo)
}

/** Returns the headers that do not depend on the body: the answer's own, the rate limits' and the defaults. */
function cabecerasDe(req: Request, status: number, propias: Readonly<Record<string, Valor>>): Lista {
  const { id, deApi, admision } = req.solicitud
  const lista: Lista = deApi ? DE_API.slice() : ['Cache-Control', 'no-store']
  if (deApi) lista.push('X-Request-Id', id)
  for (const nombre in propias) poner(lista, nombre, propias[nombre]!)
  if (admision && status < 500 && status !== 401) {
    const { cabeceras } = admision
    poner(lista, 'RateLimit', cabeceras.RateLimit)
    poner(lista, 'RateLimit-Policy', cabeceras['RateLimit-Policy'])
  }
  return lista
}

/** Adds a header, or replaces the header of the same name. */
function poner(lista: Lista, nombre: string, valor: Valor): void {
  for (let i = 0; i < lista.length; i += 2) {
    if (lista[i] !== nombre) continue
    lista[i + 1] = valor
    return
  }
  lista.push(nombre, valor)
}

// A list saves an object of twenty members for each answer. Node's types declare only lists of numbers and strings.
const escribirCabeza = (res: Response, status: number, lista: Lista) => res.writeHead(status, lista as string[])

const enviada = (res: Response, status: number, lista: Lista, cuerpo: unknown): Enviada => ({
  status,
  // The headers of the answer, for tests only. The headers that middleware set before the answer was known come first.
  get cabeceras() {
    const suyas = lista.flatMap((nombre, i) => (i % 2 === 0 ? [[nombre, lista[i + 1]] as const] : []))
    return { ...(res.req.solicitud.deApi ? {} : res.getHeaders()), ...Object.fromEntries(suyas) }
  },
  cuerpo,
})

/**
 * Maximum time in milliseconds in which a client reads nothing of a streamed answer. Afterwards the connection is
 * closed.
 */
const PACIENCIA = 30_000

function enviarFlujo(req: Request, res: Response, { content }: ByteStream) {
  if (req.solicitud.metodo === 'HEAD') {
    content.destroy()
    return void res.end()
  }
  res.setTimeout(PACIENCIA, () => res.destroy())
  pipeline(content, res, (error) => {
    // A client that disconnects early is not a fault of the service. A failing disk is a fault, and the client gets a
    // broken connection.
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') req.solicitud.error = error
  })
}

/** Function that tests pass to see every answer. Throws if the contract does not declare the answer. */
export type ResponseWitness = (req: Request, enviada: Enviada) => void

/**
 * Creates the error handler that turns every error into its answer, in Spanish. The body is application/json, or RFC
 * 9457's form if `Accept` names application/problem+json. Closes the connection if the headers were already sent.
 */
export function renderProblems(urlPublica: string, testigo?: ResponseWitness): ErrorRequestHandler {
  return (error, req, res, _next) => {
    const problema = deExpress(error) ?? translateError(error)
    req.solicitud.error = problema.cause ?? problema
    if (res.headersSent) return void res.destroy()
    const { tipo, cuerpo } = byAccept(problema.presentar(req.solicitud.id, urlPublica), req.headers.accept)
    const enviada = sendResponse(req, res, problema.status, cuerpo, {
      'Content-Type': tipo,
      ...problema.detalles.cabeceras,
    })
    testigo?.(req, enviada)
  }
}

/**
 * Returns the problem for an error that Express itself raised (a path with invalid percent-encoding); else undefined.
 */
function deExpress(error: unknown): Problema | undefined {
  if (!(error instanceof URIError)) return undefined
  return new Problema('parametro_invalido', 'La ruta no está bien codificada: revise los signos % de la dirección.', {
    cause: error,
  })
}

/** Creates the handler that answers 404 to a path that names no operation, page or file. */
export function createUnknownRoute(operaciones: readonly Operation[]): RequestHandler {
  const nearestPath = createNearestPath(operaciones.map(({ ruta }) => ruta))
  return ({ path }) => {
    const parecida = nearestPath(path)
    const sinBarra = path.endsWith('/') ? path.slice(0, -1) : path
    const remedio =
      parecida !== undefined && parecida !== sinBarra
        ? `¿Quiso decir ${parecida.slice(0, 200)}?`
        : path.endsWith('/') && path !== '/'
          ? 'Quite la / del final.'
          : 'Revise cómo está escrita, también las mayúsculas.'
    throw new Problema(
      'ruta_desconocida',
      `No hay ninguna operación en ${path.slice(0, 200)}. ${remedio} Las rutas de comercios empiezan por /api/v1.`,
    )
  }
}

/** Creates the handler that answers 405 with the allowed methods in `Allow` (RFC 9110, 15.5.6). */
export const methodNotAllowed = (metodos: readonly string[]) => {
  const allow = metodos.flatMap((metodo) => (metodo === 'get' ? ['GET', 'HEAD'] : [metodo.toUpperCase()])).join(', ')
  return () => {
    throw new Problema('metodo_no_permitido', `Use uno de estos métodos: ${allow}.`, { cabeceras: { Allow: allow } })
  }
}
