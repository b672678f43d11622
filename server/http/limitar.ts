import type { ErrorRequestHandler, RequestHandler } from 'express'
import type { Operacion } from '../contrato/contrato.ts'
import { Problema } from '../errores.ts'
import { COSTO_MAXIMO, type Limites } from '../limites/limites.ts'
import { redDe } from './red.ts'

/** Lets a request through if whoever calls has enough left of what it spends; before a byte of its body is read. */
export function limitar(operacion: Operacion, limites: Limites): RequestHandler {
  return (req, res, next) => {
    const { solicitud } = req
    // It is over with the answer: `identificarSolicitud` ends it, but for whoever went away while it was found out who he is.
    solicitud.admision = limites.admitir(operacion, solicitud.identidad, redDe(req.ip ?? ''))
    if (res.closed) solicitud.admision.terminar()
    next()
  }
}

/**
 * Lets through what asks for a page, or for nothing that there is, as long as its network has some left of that: operations
 * are counted by themselves, where it is known who calls.
 * @returns what goes ahead of all paths, and what goes behind those of operations
 */
export function limitarPaginas(operaciones: readonly Operacion[], limites: Limites) {
  const raices = new Set(operaciones.map(({ ruta }) => raizDe(ruta)))
  const gastar =
    (bajoOperaciones: boolean): RequestHandler =>
    (req, _res, next) => {
      if (raices.has(raizDe(req.path)) === bajoOperaciones) limites.gastarPagina(redDe(req.ip ?? ''))
      next()
    }
  return { paginas: gastar(false), desconocidas: gastar(true) }
}

/** What begins the paths of operations and of nothing else: `/repartidor/v1`, where `/repartidor` is a page. */
const raizDe = (ruta: string) => /^\/\w+\/v1(?=\/)|^\/[^/]*/.exec(ruta)?.[0] ?? ruta

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
