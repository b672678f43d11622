import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import { demasiadas, Problema } from '../../platform/errors.ts'
import type { Operacion } from '../contract/contract.ts'
import { type ClaseDeRed, COSTO_MAXIMO, type Limites } from '../limits/limits.ts'
import { redDe } from './network.ts'
import { wasCharged } from './networkGate.ts'

/**
 * Creates the middleware that charges a request to its credential, or else to its network, before a byte of the body is
 * read. Answers 429 if the rate is used up.
 */
export function limitar(operacion: Operacion, limites: Limites): RequestHandler {
  return (req, res, next) => {
    const { solicitud } = req
    const { identidad } = solicitud
    if (!identidad) exigirRitmoDeRed(req, limites, 'operaciones')
    solicitud.admision = identidad ? limites.admitir(operacion, identidad) : limites.admitirDeRed(redDe(req.ip ?? ''))
    // `identificarSolicitud` ends the admission when the connection closes. That event has passed if the client
    // disconnected during the credential's look-up.
    if (res.closed) solicitud.admision.terminar()
    next()
  }
}

/** Creates the middleware that charges a request for an unknown path to its network. */
export const limitarDesconocidas =
  (limites: Limites): RequestHandler =>
  (req, _res, next) => {
    exigirRitmoDeRed(req, limites, 'paginas')
    next()
  }

/**
 * Charges a request to its network, unless the network gate charged the request when it arrived.
 * @throws Problema 429
 */
function exigirRitmoDeRed(req: Request, limites: Limites, clase: ClaseDeRed): void {
  if (wasCharged(req)) return
  const red = redDe(req.ip ?? '')
  const espera = limites.gastarDeRed(red, clase)
  if (espera > 0) throw demasiadas(limites.motivoDeRed, espera, limites.cabecerasDeRed(red, clase))
}

/** Creates the middleware that gives back tokens if the list in the body is shorter than the charged maximum. */
export function corregirCosto({ ritmoPor }: Operacion): RequestHandler {
  return (req, _res, next) => {
    if (ritmoPor !== undefined) {
      const lista: unknown = req.body?.[ritmoPor]
      const cuantos = Array.isArray(lista) ? lista.length : 1
      req.solicitud.admision?.corregir(Math.max(1, Math.min(COSTO_MAXIMO, cuantos)))
    }
    next()
  }
}

/** Creates the error middleware that counts a courier's request for a guide code that does not exist. */
export function contarDesconocida(limites: Limites): ErrorRequestHandler {
  return (error, req, _res, next) => {
    const { identidad } = req.solicitud
    const desconocida = error instanceof Problema && error.codigo === 'guia_desconocida'
    if (desconocida && identidad && 'repartidor' in identidad) limites.contarDesconocidas(identidad.repartidor, 1)
    next(error)
  }
}
