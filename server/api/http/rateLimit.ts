import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import { Problema, tooMany } from '../../platform/errors.ts'
import type { Operation } from '../contract/contract.ts'
import { type Limits, MAX_COST, type NetworkClass } from '../limits/limits.ts'
import { networkOf } from './network.ts'
import { wasCharged } from './networkGate.ts'

/**
 * Creates the middleware that counts a request against the rates of its credential. A request without a credential
 * counts against the rate of the client's network. Answers 429, before a byte of the body is read, if a rate is used
 * up.
 */
export function limitRate(operacion: Operation, limites: Limits): RequestHandler {
  return (req, res, next) => {
    const { solicitud } = req
    const { identidad } = solicitud
    if (!identidad) exigirRitmoDeRed(req, limites, 'operaciones')
    solicitud.admision = identidad ? limites.admit(operacion, identidad) : limites.admitNetwork(networkOf(req.ip ?? ''))
    // `identifyRequest` ends the admission when the connection closes. That event has passed if the client
    // disconnected during the credential's look-up.
    if (res.closed) solicitud.admision.terminar()
    next()
  }
}

/** Creates the middleware that counts a request for an unknown path against the rate limit of the client's network. */
export const limitUnknown =
  (limites: Limits): RequestHandler =>
  (req, _res, next) => {
    exigirRitmoDeRed(req, limites, 'paginas')
    next()
  }

/**
 * Counts a request against the rate of the client's network, unless the network gate counted the request when it
 * arrived.
 * @throws Problema 429
 */
function exigirRitmoDeRed(req: Request, limites: Limits, clase: NetworkClass): void {
  if (wasCharged(req)) return
  const red = networkOf(req.ip ?? '')
  const espera = limites.chargeNetwork(red, clase)
  if (espera > 0) throw tooMany(limites.networkReason, espera, limites.networkHeaders(red, clase))
}

/** Creates the middleware that gives back tokens if the list in the body is shorter than the charged maximum. */
export function correctCost({ ritmoPor }: Operation): RequestHandler {
  return (req, _res, next) => {
    if (ritmoPor !== undefined) {
      const lista: unknown = req.body?.[ritmoPor]
      const cuantos = Array.isArray(lista) ? lista.length : 1
      req.solicitud.admision?.corregir(Math.max(1, Math.min(MAX_COST, cuantos)))
    }
    next()
  }
}

/** Creates the error middleware that counts a courier's request for a guide code that does not exist. */
export function countUnknown(limites: Limits): ErrorRequestHandler {
  return (error, req, _res, next) => {
    const { identidad } = req.solicitud
    const desconocida = error instanceof Problema && error.codigo === 'guia_desconocida'
    if (desconocida && identidad && 'repartidor' in identidad) limites.countUnknown(identidad.repartidor, 1)
    next(error)
  }
}
