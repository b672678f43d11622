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
  metodo: string
  /** Arrival of the request, on the clock of `performance.now()`, in milliseconds. */
  inicio: number
  /** True for the merchants' API (`/api/v1/`), all of whose answers `sendResponse` writes. */
  deApi: boolean
  operacion?: Operation
  identidad?: Identity
  /** Public id of the key that was refused: llave_… */
  llave?: string | undefined
  /** Places of the body's members that were null and count as absent, as JSON Pointers; undefined without any. */
  nulls?: readonly string[]
  /** Code of the guide that the path or the answer names. */
  guia?: string | undefined
  /** Admission by the rate limits; undefined until `limitRate` admits the request. */
  admision?: RequestAdmission
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

const ID_AJENO = /^[!-~]{1,128}$/

/**
 * Creates the middleware that gives each request an id and writes one log line when the request ends. The id is the
 * client's `X-Request-Id` if that has 1 to 128 visible ASCII characters. Requests refused with 429 are logged as
 * counts.
 */
export function identifyRequest(
  { log, refusals, metricas }: { log: Log; refusals: RefusalLog; metricas: RequestMetrics },
  nuevoId: () => string,
) {
  return (req: Request, res: Response, next: NextFunction) => {
    const ajeno = req.headers['x-request-id']
    const solicitud: RequestState = {
      id: typeof ajeno === 'string' && ID_AJENO.test(ajeno) ? ajeno : nuevoId(),
      metodo: req.method,
      inicio: performance.now(),
      deApi: req.url.startsWith('/api/v1/'),
    }
    req.solicitud = solicitud
    // In the merchants' API, `sendResponse` writes the security headers together with the status.
    if (!solicitud.deApi) {
      for (const nombre in SECURITY_HEADERS) res.setHeader(nombre, SECURITY_HEADERS[nombre]!)
      res.setHeader('X-Request-Id', solicitud.id)
    }
    const traceparent = req.headers.traceparent
    const span = startSpan(req.method, {
      kind: 'server',
      ...(typeof traceparent === 'string' ? { parent: traceparent } : {}),
    })
    res.once('close', () => {
      solicitud.admision?.terminar()
      const { operacion, identidad, error } = solicitud
      const ms = performance.now() - solicitud.inicio
      const nombre = operacion?.id ?? sinOperacion(res)
      metricas.solicitud(nombre, res.statusCode, ms / 1_000, span?.traceId)
      span?.rename(nombre)
      span?.set({
        'http.request.method': solicitud.metodo,
        'http.response.status_code': res.statusCode,
        'guias.operacion': nombre,
        'guias.guia': solicitud.guia,
        'guias.comercio': identidad && 'comercio' in identidad ? identidad.comercio : undefined,
      })
      span?.end(res.statusCode >= 500)
      if (res.statusCode < 500 && !log.isLevelEnabled('info')) return
      if (res.statusCode === 429) {
        refusals.note({ red: networkOf(req.ip ?? ''), motivo: operacion?.id ?? 'page', quien: quien(identidad) })
        return
      }
      const linea = {
        id_solicitud: solicitud.id,
        operacion: operacion?.id,
        metodo: solicitud.metodo,
        status: res.statusCode,
        ms: Math.round(ms * 10) / 10,
        ...quien(identidad),
        ...(solicitud.llave === undefined ? {} : { llave: solicitud.llave }),
        guia: solicitud.guia,
        traza: span?.traceId,
        red: wideNetwork(networkOf(req.ip ?? '')) ?? undefined,
        ...(res.writableFinished ? {} : { cortada: true }),
      }
      // A 503 reports a state of the service, which other log lines also report. Any other 5xx is a defect of the
      // service.
      if (res.statusCode >= 500) log[res.statusCode === 503 ? 'warn' : 'error']({ ...linea, err: error }, 'request')
      else log.info(linea, 'request')
    })
    if (span) withinSpan(span, next)
    else next()
  }
}

const sinOperacion = (res: Response) => (res.getHeader('Content-Type') === 'text/event-stream' ? 'en_vivo' : 'pagina')

function quien(identidad: Identity | undefined): Record<string, string> {
  if (!identidad) return {}
  const persona: Record<string, string> =
    'persona' in identidad && identidad.persona !== undefined ? { persona: identidad.persona } : {}
  const llave: Record<string, string> =
    'llave' in identidad && !persona.persona ? { llave: `llave_${identidad.llave}` } : {}
  if ('comercio' in identidad) return { comercio: identidad.comercio, modo: identidad.modo, ...llave, ...persona }
  if ('repartidor' in identidad) return { repartidor: identidad.repartidor }
  return 'operador' in identidad && !identidad.persona ? { operador: identidad.operador, ...llave } : persona
}
