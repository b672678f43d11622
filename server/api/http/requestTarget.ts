import type { RequestListener } from 'node:http'
import type { Request, RequestHandler } from 'express'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import type { Operation } from '../contract/contract.ts'

const INVALIDOS = new WeakSet<object>()

/**
 * Wraps a listener so that it gets request targets in origin-form (RFC 9112, 3.2). Absolute targets are reduced to path
 * and query. Targets of other forms, and targets with a forbidden `#`, are marked; {@link requireTarget} refuses marked
 * requests. This runs before Express, because its router and the validator would each read such a target differently.
 */
export const withNormalTarget =
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

/**
 * Creates the middleware that answers 400 to requests that no operation or page can read. It refuses marked targets,
 * more than one `Host` header, and escapes for NUL or for bytes that are not UTF-8. PostgreSQL stores no NUL in text.
 */
export const requireTarget =
  (operaciones: readonly Operation[]): RequestHandler =>
  (req, _res, next) => {
    if (INVALIDOS.has(req)) throw mal('La dirección no está bien escrita: debe empezar por una sola / y no llevar #.')
    if ((req.headersDistinct.host?.length ?? 0) > 1) throw mal('Envíe una sola cabecera Host.')
    if (req.url.includes('%')) exigirLegible(req, operaciones)
    next()
  }

const mal = (mensaje: string) => new Problema('parametro_invalido', mensaje)

const ESCAPES = /(?:%[0-9a-f]{2})+/gi

/**
 * Reports whether the percent-escapes of a text stand for NUL or for invalid UTF-8. A lone `%` is left to other checks.
 */
function ilegible(escrito: string): boolean {
  try {
    return (escrito.match(ESCAPES) ?? []).some((escapes) => decodeURIComponent(escapes).includes('\0'))
  } catch {
    return true
  }
}

function exigirLegible(req: Request, operaciones: readonly Operation[]): void {
  const { url, method } = req
  if (!ilegible(url)) return
  const [ruta = '', consulta = ''] = url.split(/\?(.*)/s)
  const deRuta = ruta.split('/').flatMap((segmento, i) => (ilegible(segmento) ? [i] : []))
  const metodo = method === 'HEAD' ? 'get' : method.toLowerCase()
  const operacion = hallar(operaciones, metodo, ruta)
  if (operacion?.rechazo) {
    // Does not reveal which part was malformed; signature verification rejects the request like any other link.
    req.url = url.replace(ESCAPES, (escapes) => (ilegible(escapes) ? '%EF%BF%BD' : escapes))
    return
  }
  const declarada = operacion?.ruta.split('/')
  const campos = [
    ...deRuta.map((i) => declarada?.[i]?.replace(/[{}]/g, '') ?? 'ruta'),
    ...consulta.split('&').flatMap((par) => (ilegible(par) ? [nombreDe(par)] : [])),
  ]
  throw problemOfFaults(
    'parametro_invalido',
    [...new Set(campos)].map((campo) => ({
      campo,
      codigo: 'formato_invalido',
      mensaje: 'lleva un carácter nulo (%00) o bytes que no son UTF-8; quítelos',
    })),
  )
}

/** Finds the operation of a path that cannot be decoded, by comparing the fixed segments. */
const hallar = (operaciones: readonly Operation[], metodo: string, ruta: string) => {
  const segmentos = ruta.split('/')
  return operaciones.find((operacion) => {
    const suyos = operacion.ruta.split('/')
    const esSuya = (suyo: string, i: number) => suyo.startsWith('{') || suyo === segmentos[i]
    return operacion.metodo === metodo && suyos.length === segmentos.length && suyos.every(esSuya)
  })
}

/** Returns the name of a query parameter as written, up to 100 characters; `consulta` if the name cannot be decoded. */
function nombreDe(par: string): string {
  const [nombre = ''] = par.split('=', 1)
  return ilegible(nombre) ? 'consulta' : nombre.slice(0, 100)
}
