import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Operacion } from '../contrato/contrato.ts'
import { Problema } from '../errores.ts'
import type { Autenticadores, Esquema } from './identidad.ts'

const RETO = 'Bearer realm="guias"'

const noAutenticado = (detail: string) =>
  new Problema('no_autenticado', detail, { cabeceras: { 'WWW-Authenticate': RETO } })

/** RFC 6750: one `Authorization: Bearer <key>`, before a byte of the body is read. */
export function autenticar(operacion: Operacion, autenticadores: Autenticadores): RequestHandler {
  if (!operacion.seguridad) return (_req, _res, next) => next()
  const verificar = autenticadores[operacion.seguridad.esquema as Esquema]
  return (req: Request, _res: Response, next: NextFunction) => {
    // Node joins or drops repeated headers silently; two different keys are never the caller's intention.
    const presentadas = req.headersDistinct.authorization ?? []
    if (presentadas.length > 1) throw noAutenticado('Envíe una sola cabecera Authorization.')
    const [, llave] = /^Bearer +([!-~]+) *$/i.exec(presentadas[0] ?? '') ?? []
    if (!llave) throw noAutenticado('Envíe «Authorization: Bearer <su llave>» con una llave vigente.')
    verificar(llave)
      .then((identidad) => {
        if (!identidad)
          throw noAutenticado(
            'La llave no es válida para esta ruta, venció o fue revocada. Revise que esté entera y vigente.',
          )
        req.solicitud.identidad = identidad
        next()
      })
      .catch(next)
  }
}

/** A body may take its time to arrive: after a second the key is looked at again, for it may have been revoked. */
export function reautenticar(operacion: Operacion, autenticadores: Autenticadores): RequestHandler {
  const autenticarDeNuevo = autenticar(operacion, autenticadores)
  return (req, res, next) =>
    performance.now() - req.solicitud.inicio > 1_000 ? autenticarDeNuevo(req, res, next) : next()
}

/** 403 unless the key has every scope that the operation names. */
export function exigirAlcance(operacion: Operacion): RequestHandler {
  const exigidos = operacion.seguridad?.alcances ?? []
  return (req, _res, next) => {
    const { identidad } = req.solicitud
    const suyos: readonly string[] = identidad && 'alcances' in identidad ? identidad.alcances : []
    const falta = exigidos.find((alcance) => !suyos.includes(alcance))
    if (falta)
      throw new Problema('alcance_insuficiente', `La operación pide el alcance ${falta} y esta llave no lo tiene.`)
    next()
  }
}
