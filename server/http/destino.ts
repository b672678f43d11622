import type { RequestListener } from 'node:http'
import type { RequestHandler } from 'express'
import { Problema } from '../errores.ts'

const INVALIDOS = new WeakSet<object>()

/**
 * Brings request targets into origin-form (RFC 9112, 3.2): an absolute one is reduced to it, and what is neither, or holds
 * the `#` that no target may, is marked. It runs before Express, whose router and validator would each read a target in
 * its own way.
 */
export const conDestinoNormal =
  (atender: RequestListener): RequestListener =>
  (req, res) => {
    const { url = '/' } = req
    if (!url.startsWith('/') || url.startsWith('//') || url.includes('#')) {
      const absoluta = /^https?:\/\//i.test(url) && !url.includes('#') ? URL.parse(url) : null
      if (!absoluta) INVALIDOS.add(req)
      req.url = absoluta ? absoluta.pathname + absoluta.search : '/'
    }
    atender(req, res)
  }

export const exigirDestino: RequestHandler = (req, _res, next) => {
  if (INVALIDOS.has(req)) {
    throw new Problema(
      'parametro_invalido',
      'La dirección no está bien escrita: debe empezar por una sola / y no llevar #.',
    )
  }
  next()
}
