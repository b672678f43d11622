import type { NextFunction, Request, Response } from 'express'
import type { Operacion } from '../contrato/contrato.ts'
import type { Deps } from '../deps.ts'
import type { Admision } from '../limites/limites.ts'
import { CABECERAS } from './cabeceras.ts'
import type { Identidad } from './identidad.ts'
import { redDe } from './red.ts'

/** What the machinery knows of a request, from its first middleware on. */
export interface Solicitud {
  id: string
  /** The method that the operation was bound with: GET for a HEAD request, too. */
  metodo: string
  inicio: number
  /** Whether it is for the merchants' API, whose answers all come from `responder`. */
  deApi: boolean
  operacion?: Operacion
  identidad?: Identidad
  /** What it was let through with. */
  admision?: Admision
  /** Why the request failed, for the log. */
  error?: unknown
}

declare global {
  namespace Express {
    interface Request {
      solicitud: Solicitud
    }
  }
}

const ID_AJENO = /^[!-~]{1,128}$/

/**
 * Gives the request its id (the caller's `X-Request-Id` if it is fit) and writes its one log line when it is over.
 * Requests refused with 429 are logged as counts.
 */
export function identificarSolicitud({ log, refusals }: Pick<Deps, 'log' | 'refusals'>, nuevoId: () => string) {
  return (req: Request, res: Response, next: NextFunction) => {
    const ajeno = req.headers['x-request-id']
    const solicitud: Solicitud = {
      id: typeof ajeno === 'string' && ID_AJENO.test(ajeno) ? ajeno : nuevoId(),
      metodo: req.method,
      inicio: performance.now(),
      deApi: req.url.startsWith('/api/v1/'),
    }
    req.solicitud = solicitud
    // Those of an answer to a merchant's system are written at once with it (`responder`).
    if (!solicitud.deApi) {
      for (const nombre in CABECERAS) res.setHeader(nombre, CABECERAS[nombre]!)
      res.setHeader('X-Request-Id', solicitud.id)
    }
    res.once('close', () => {
      solicitud.admision?.terminar()
      if (res.statusCode < 500 && !log.isLevelEnabled('info')) return
      const { operacion, identidad, error } = solicitud
      if (res.statusCode === 429) {
        refusals.note({ red: redDe(req.ip ?? ''), motivo: operacion?.id ?? 'page', quien: quien(identidad) })
        return
      }
      const linea = {
        id_solicitud: solicitud.id,
        operacion: operacion?.id,
        metodo: solicitud.metodo,
        status: res.statusCode,
        ms: Math.round((performance.now() - solicitud.inicio) * 10) / 10,
        ...quien(identidad),
        ...(res.writableFinished ? {} : { cortada: true }),
      }
      // A 503 is a state of the service, told elsewhere too; any other 5xx is a fault of ours.
      if (res.statusCode >= 500) log[res.statusCode === 503 ? 'warn' : 'error']({ ...linea, err: error }, 'request')
      else log.info(linea, 'request')
    })
    next()
  }
}

function quien(identidad: Identidad | undefined): Record<string, string> {
  if (!identidad) return {}
  if ('comercio' in identidad) return { comercio: identidad.comercio, modo: identidad.modo }
  return 'operador' in identidad ? { operador: identidad.operador } : { repartidor: identidad.repartidor }
}
