import type { RequestListener } from 'node:http'
import type { Request, RequestHandler } from 'express'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import type { Operation } from '../contract/contract.ts'

const INVALID_REQUESTS = new WeakSet<object>()

/**
 * Wraps a listener so that it gets request targets in origin-form (RFC 9112, 3.2). Absolute targets are reduced to path
 * and query. Targets of other forms, and targets with a forbidden `#`, are marked; {@link requireTarget} refuses marked
 * requests. This runs before Express, because its router and the validator would each read such a target differently.
 */
export const withNormalTarget =
  (handle: RequestListener): RequestListener =>
  (req, res) => {
    const { url = '/' } = req
    if (!url.startsWith('/') || url.startsWith('//') || url.includes('#')) {
      const absoluteUrl = /^https?:\/\//i.test(url) && !url.includes('#') ? URL.parse(url) : null
      if (!absoluteUrl) INVALID_REQUESTS.add(req)
      req.url = absoluteUrl ? absoluteUrl.pathname + absoluteUrl.search : '/'
    }
    handle(req, res)
  }

/**
 * Creates the middleware that answers 400 to requests that no operation or page can read. It refuses marked targets,
 * more than one `Host` header, and escapes for NUL or for bytes that are not UTF-8. PostgreSQL stores no NUL in text.
 */
export const requireTarget =
  (operations: readonly Operation[]): RequestHandler =>
  (req, _res, next) => {
    if (INVALID_REQUESTS.has(req))
      throw mal('La dirección no está bien escrita: debe empezar por una sola / y no llevar #.')
    if ((req.headersDistinct.host?.length ?? 0) > 1) throw mal('Envíe una sola cabecera Host.')
    if (req.url.includes('%')) requireReadable(req, operations)
    next()
  }

const mal = (message: string) => new Problema('parametro_invalido', message)

const ESCAPES = /(?:%[0-9a-f]{2})+/gi

/**
 * Reports whether the percent-escapes of a text stand for NUL or for invalid UTF-8. A lone `%` is left to other checks.
 */
function isUnreadable(writtenText: string): boolean {
  try {
    return (writtenText.match(ESCAPES) ?? []).some((escapes) => decodeURIComponent(escapes).includes('\0'))
  } catch {
    return true
  }
}

function requireReadable(req: Request, operations: readonly Operation[]): void {
  const { url, method } = req
  if (!isUnreadable(url)) return
  const [path = '', queryText = ''] = url.split(/\?(.*)/s)
  const badSegments = path.split('/').flatMap((segment, i) => (isUnreadable(segment) ? [i] : []))
  const contractMethod = method === 'HEAD' ? 'get' : method.toLowerCase()
  const operation = findOperation(operations, contractMethod, path)
  if (operation?.rechazo) {
    // Does not reveal which part was malformed; signature verification rejects the request like any other link.
    req.url = url.replace(ESCAPES, (escapes) => (isUnreadable(escapes) ? '%EF%BF%BD' : escapes))
    return
  }
  const declaredSegments = operation?.path.split('/')
  const fields = [
    ...badSegments.map((i) => declaredSegments?.[i]?.replace(/[{}]/g, '') ?? 'ruta'),
    ...queryText.split('&').flatMap((par) => (isUnreadable(par) ? [parameterName(par)] : [])),
  ]
  throw problemOfFaults(
    'parametro_invalido',
    [...new Set(fields)].map((campo) => ({
      campo,
      codigo: 'formato_invalido',
      mensaje: 'lleva un carácter nulo (%00) o bytes que no son UTF-8; quítelos',
    })),
  )
}

/** Finds the operation of a path that cannot be decoded, by comparing the fixed segments. */
const findOperation = (operations: readonly Operation[], contractMethod: string, path: string) => {
  const segments = path.split('/')
  return operations.find((operation) => {
    const operationSegments = operation.path.split('/')
    const matchesSegment = (operationSegment: string, i: number) =>
      operationSegment.startsWith('{') || operationSegment === segments[i]
    return (
      operation.method === contractMethod &&
      operationSegments.length === segments.length &&
      operationSegments.every(matchesSegment)
    )
  })
}

/** Returns the name of a query parameter as written, up to 100 characters; `consulta` if the name cannot be decoded. */
function parameterName(par: string): string {
  const [name = ''] = par.split('=', 1)
  return isUnreadable(name) ? 'consulta' : name.slice(0, 100)
}
