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
export function limitRate(operation: Operation, limits: Limits): RequestHandler {
  return (req, res, next) => {
    const { solicitud } = req
    const { identity } = solicitud
    if (!identity) requireNetworkRate(req, limits, 'operaciones')
    solicitud.admission = identity ? limits.admit(operation, identity) : limits.admitNetwork(networkOf(req.ip ?? ''))
    // `identifyRequest` ends the admission when the connection closes. That event has passed if the client
    // disconnected during the credential's look-up.
    if (res.closed) solicitud.admission.finish()
    next()
  }
}

/** Creates the middleware that counts a request for an unknown path against the rate limit of the client's network. */
export const limitUnknown =
  (limits: Limits): RequestHandler =>
  (req, _res, next) => {
    requireNetworkRate(req, limits, 'paginas')
    next()
  }

/**
 * Counts a request against the rate of the client's network, unless the network gate counted the request when it
 * arrived.
 * @throws Problema 429
 */
function requireNetworkRate(req: Request, limits: Limits, networkClass: NetworkClass): void {
  if (wasCharged(req)) return
  const network = networkOf(req.ip ?? '')
  const waitSeconds = limits.chargeNetwork(network, networkClass)
  if (waitSeconds > 0) throw tooMany(limits.networkReason, waitSeconds, limits.networkHeaders(network, networkClass))
}

/** Creates the middleware that gives back tokens if the list in the body is shorter than the charged maximum. */
export function correctCost({ rateBy }: Operation): RequestHandler {
  return (req, _res, next) => {
    if (rateBy !== undefined) {
      const costList: unknown = req.body?.[rateBy]
      const listLength = Array.isArray(costList) ? costList.length : 1
      req.solicitud.admission?.correct(Math.max(1, Math.min(MAX_COST, listLength)))
    }
    next()
  }
}

/** Creates the error middleware that counts a courier's request for a guide code that does not exist. */
export function countUnknown(limits: Limits): ErrorRequestHandler {
  return (error, req, _res, next) => {
    const { identity } = req.solicitud
    const isUnknownGuia = error instanceof Problema && error.codigo === 'guia_desconocida'
    if (isUnknownGuia && identity && 'repartidor' in identity) limits.countUnknown(identity.repartidor, 1)
    next(error)
  }
}
