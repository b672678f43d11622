import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import type { Operacion } from '../contrato/contrato.ts'
import { demasiadas, Problema } from '../errores.ts'
import { type ClaseDeRed, COSTO_MAXIMO, type Limites } from '../limites/limites.ts'
import { wasCharged } from './networkGate.ts'
import { redDe } from './red.ts'

/** Charges a request to whoever made it, before a byte of its body is read. */
export function limitar(operacion: Operacion, limites: Limites): RequestHandler {
  return (req, res, next) => {
    const { solicitud } = req
    const { identidad } = solicitud
    if (!identidad) exigirRitmoDeRed(req, limites, 'operaciones')
    solicitud.admision = identidad ? limites.admitir(operacion, identidad) : limites.admitirDeRed(redDe(req.ip ?? ''))
    // `identificarSolicitud` ends it with the answer, unless the caller left while the credential was looked up.
    if (res.closed) solicitud.admision.terminar()
    next()
  }
}

/** Charges a path that leads nowhere to its network. */
export const limitarDesconocidas =
  (limites: Limites): RequestHandler =>
  (req, _res, next) => {
    exigirRitmoDeRed(req, limites, 'paginas')
    next()
  }

/** Charges a request to its network unless the network gate did so when the request arrived. */
function exigirRitmoDeRed(req: Request, limites: Limites, clase: ClaseDeRed): void {
  if (wasCharged(req)) return
  const red = redDe(req.ip ?? '')
  const espera = limites.gastarDeRed(red, clase)
  if (espera > 0) throw demasiadas(limites.motivoDeRed, espera, limites.cabecerasDeRed(red, clase))
}

/** Gives back what a request took for a list that turns out to be shorter. */
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

/** Counts a code that a courier asked for and that names no guide. */
export function contarDesconocida(limites: Limites): ErrorRequestHandler {
  return (error, req, _res, next) => {
    const { identidad } = req.solicitud
    const desconocida = error instanceof Problema && error.codigo === 'guia_desconocida'
    if (desconocida && identidad && 'repartidor' in identidad) limites.contarDesconocidas(identidad.repartidor, 1)
    next(error)
  }
}
