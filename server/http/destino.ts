import type { RequestListener } from 'node:http'
import type { Request, RequestHandler } from 'express'
import type { Operacion } from '../contrato/contrato.ts'
import { Problema, problemaDeFallas } from '../errores.ts'

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

/**
 * Refuses what no operation and no page could read, before any of them: a target that is none, more than one `Host`, and
 * escapes that stand for NUL, which PostgreSQL keeps in no text, or for bytes that aren't UTF-8.
 */
export const exigirDestino =
  (operaciones: readonly Operacion[]): RequestHandler =>
  (req, _res, next) => {
    if (INVALIDOS.has(req)) throw mal('La dirección no está bien escrita: debe empezar por una sola / y no llevar #.')
    if ((req.headersDistinct.host?.length ?? 0) > 1) throw mal('Envíe una sola cabecera Host.')
    if (req.url.includes('%')) exigirLegible(req, operaciones)
    next()
  }

const mal = (mensaje: string) => new Problema('parametro_invalido', mensaje)

const ESCAPES = /(?:%[0-9a-f]{2})+/gi

/** What stands for no text; a lone `%` is somebody else's to judge. */
function ilegible(escrito: string): boolean {
  try {
    return (escrito.match(ESCAPES) ?? []).some((escapes) => decodeURIComponent(escapes).includes('\0'))
  } catch {
    return true
  }
}

function exigirLegible(req: Request, operaciones: readonly Operacion[]): void {
  const { url, method } = req
  if (!ilegible(url)) return
  const [ruta = '', consulta = ''] = url.split(/\?(.*)/s)
  const deRuta = ruta.split('/').flatMap((segmento, i) => (ilegible(segmento) ? [i] : []))
  const metodo = method === 'HEAD' ? 'get' : method.toLowerCase()
  const operacion = hallar(operaciones, metodo, ruta)
  if (operacion?.rechazo) {
    // Nothing may be told apart: it goes the way of whatever no signature covers.
    req.url = url.replace(ESCAPES, (escapes) => (ilegible(escapes) ? '%EF%BF%BD' : escapes))
    return
  }
  const declarada = operacion?.ruta.split('/')
  const campos = [
    ...deRuta.map((i) => declarada?.[i]?.replace(/[{}]/g, '') ?? 'ruta'),
    ...consulta.split('&').flatMap((par) => (ilegible(par) ? [nombreDe(par)] : [])),
  ]
  throw problemaDeFallas(
    'parametro_invalido',
    [...new Set(campos)].map((campo) => ({
      campo,
      codigo: 'formato_invalido',
      mensaje: 'lleva un carácter nulo (%00) o bytes que no son UTF-8; quítelos',
    })),
  )
}

/** The operation of a path that can't be decoded. */
const hallar = (operaciones: readonly Operacion[], metodo: string, ruta: string) => {
  const segmentos = ruta.split('/')
  return operaciones.find((operacion) => {
    const suyos = operacion.ruta.split('/')
    const esSuya = (suyo: string, i: number) => suyo.startsWith('{') || suyo === segmentos[i]
    return operacion.metodo === metodo && suyos.length === segmentos.length && suyos.every(esSuya)
  })
}

/** The name of a parameter as it is written, as far as it can be shown. */
function nombreDe(par: string): string {
  const [nombre = ''] = par.split('=', 1)
  return ilegible(nombre) ? 'consulta' : nombre.slice(0, 100)
}
