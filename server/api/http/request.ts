import type { NextFunction, Request, Response } from 'express'
import type { Log } from '../../platform/log.ts'
import { startSpan, withinSpan } from '../../platform/tracing.ts'
import type { Operation } from '../contract/contract.ts'
import type { RequestAdmission } from '../limits/limits.ts'
import { SECURITY_HEADERS } from './headers.ts'
import type { Identity } from './identity.ts'
import { networkOf, wideNetwork } from './network.ts'
import type { RefusalLog } from './refusalLog.ts'
import type { RequestMetrics } from './requestMetrics.ts'

/** State of one request, created by the first middleware. */
export interface RequestState {
  id: string
  /** HTTP method of the client. It stays `HEAD` even after `req.method` is set to GET. */
  method: string
  /** Arrival of the request, on the clock of `performance.now()`, in milliseconds. */
  startedAt: number
  /** True for the merchants' API (`/api/v1/`), all of whose answers `sendResponse` writes. */
  isApi: boolean
  operacion?: Operation
  identity?: Identity
  /** Public id of the key that was refused: llave_… */
  llave?: string | undefined
  /** Places of the body's members that were null and count as absent, as JSON Pointers; undefined without any. */
  nulls?: readonly string[]
  /** Code of the guide that the path or the answer names. */
  guia?: string | undefined
  /** Admission by the rate limits; undefined until `limitRate` admits the request. */
  admission?: RequestAdmission
  /** Cause of the failure, for the log. */
  error?: unknown
}

declare global {
  namespace Express {
    interface Request {
      solicitud: RequestState
    }
  }
}

const FOREIGN_ID = /^[!-~]{1,128}$/

/**
 * Creates the middleware that gives each request an id and writes one log line when the request ends. The id is the
 * client's `X-Request-Id` if that has 1 to 128 visible ASCII characters. Requests refused with 429 are logged as
 * counts.
 */
export function identifyRequest(
  { log, refusals, metrics }: { log: Log; refusals: RefusalLog; metrics: RequestMetrics },
  newId: () => string,
) {
  return (req: Request, res: Response, next: NextFunction) => {
    const foreignId = req.headers['x-request-id']
    const request: RequestState = {
      id: typeof foreignId === 'string' && FOREIGN_ID.test(foreignId) ? foreignId : newId(),
      method: req.method,
      startedAt: performance.now(),
      isApi: req.url.startsWith('/api/v1/'),
    }
    req.solicitud = request
    // In the merchants' API, `sendResponse` writes the security headers together with the status.
    if (!request.isApi) {
      for (const name in SECURITY_HEADERS) res.setHeader(name, SECURITY_HEADERS[name]!)
      res.setHeader('X-Request-Id', request.id)
    }
    const traceparent = req.headers.traceparent
    const span = startSpan(req.method, {
      kind: 'server',
      ...(typeof traceparent === 'string' ? { parent: traceparent } : {}),
    })
    res.once('close', () => {
      request.admission?.finish()
      const { operacion, identity, error } = request
      const ms = performance.now() - request.startedAt
      const name = operacion?.id ?? nonOperationName(res)
      metrics.solicitud(name, res.statusCode, ms / 1_000, span?.traceId)
      span?.rename(name)
      span?.set({
        'http.request.method': request.method,
        'http.response.status_code': res.statusCode,
        'guias.operacion': name,
        'guias.guia': request.guia,
        'guias.comercio': identity && 'comercio' in identity ? identity.comercio : undefined,
      })
      span?.end(res.statusCode >= 500)
      if (res.statusCode < 500 && !log.isLevelEnabled('info')) return
      if (res.statusCode === 429) {
        refusals.note({ red: networkOf(req.ip ?? ''), motivo: operacion?.id ?? 'page', quien: caller(identity) })
        return
      }
      const line = {
        id_solicitud: request.id,
        operacion: operacion?.id,
        metodo: request.method,
        status: res.statusCode,
        ms: Math.round(ms * 10) / 10,
        ...caller(identity),
        ...(request.llave === undefined ? {} : { llave: request.llave }),
        guia: request.guia,
        traza: span?.traceId,
        red: wideNetwork(networkOf(req.ip ?? '')) ?? undefined,
        ...(res.writableFinished ? {} : { cortada: true }),
      }
      // A 503 reports a state of the service, which other log lines also report. Any other 5xx is a defect of the
      // service.
      if (res.statusCode >= 500) log[res.statusCode === 503 ? 'warn' : 'error']({ ...line, err: error }, 'request')
      else log.info(line, 'request')
    })
    if (span) withinSpan(span, next)
    else next()
  }
}

const nonOperationName = (res: Response) =>
  res.getHeader('Content-Type') === 'text/event-stream' ? 'en_vivo' : 'pagina'

function caller(identity: Identity | undefined): Record<string, string> {
  if (!identity) return {}
  const persona: Record<string, string> =
    'persona' in identity && identity.persona !== undefined ? { persona: identity.persona } : {}
  const llave: Record<string, string> =
    'llave' in identity && !persona.persona ? { llave: `llave_${identity.llave}` } : {}
  if ('comercio' in identity) return { comercio: identity.comercio, modo: identity.modo, ...llave, ...persona }
  if ('repartidor' in identity) return { repartidor: identity.repartidor }
  return 'operador' in identity && !identity.persona ? { operador: identity.operador, ...llave } : persona
}
