import { pipeline } from 'node:stream'
import type { ErrorRequestHandler, Request, Response } from 'express'
import { Problema, traducirError } from '../errores.ts'
import { CABECERAS } from './cabeceras.ts'
import { coincideEtag, etagDe } from './condicional.ts'
import { Flujo } from './flujo.ts'
import { segunAccept } from './rfc9457.ts'

type Valor = string | string[]

/** Headers in a row, each name before its value: Node writes them as they stand. */
type Lista = Valor[]

/** Headers of every answer of the merchants' API, unless the answer has its own. */
const DE_API: readonly string[] = Object.entries({ ...CABECERAS, 'Cache-Control': 'no-store' }).flat()

/** An answer as it went out, but for the headers of the connection. */
interface Enviada {
  status: number
  readonly cabeceras: Readonly<Record<string, unknown>>
  cuerpo: unknown
}

/**
 * Writes an answer, as JSON unless its headers say otherwise; nothing else writes answers. Of an operation that the
 * contract makes conditional, whoever has the same bytes already gets a 304 in their place.
 */
export function responder(
  req: Request,
  res: Response,
  status: number,
  cuerpo: unknown,
  cabeceras: Readonly<Record<string, Valor>> = {},
): Enviada {
  const { operacion } = req.solicitud
  const lista = cabecerasDe(req, status, cabeceras)
  if (cuerpo instanceof Flujo) {
    poner(lista, 'Content-Type', cuerpo.mime)
    if (cuerpo.bytes !== undefined) poner(lista, 'Content-Length', String(cuerpo.bytes))
    escribirCabeza(res, status, lista)
    enviarFlujo(req, res, cuerpo)
    return enviada(res, status, lista, cuerpo)
  }
  if (cuerpo === undefined) {
    escribirCabeza(res, status, lista).end()
    return enviada(res, status, lista, cuerpo)
  }
  const texto = typeof cuerpo === 'string' ? cuerpo : JSON.stringify(cuerpo)
  if (status === 200 && operacion?.condicional) {
    const etag = etagDe(texto)
    poner(lista, 'ETag', etag)
    poner(lista, 'Cache-Control', cabeceras['Cache-Control'] ?? 'private, no-cache')
    if (coincideEtag(req.headers['if-none-match'], etag)) {
      escribirCabeza(res, 304, lista).end()
      return enviada(res, 304, lista, undefined)
    }
  }
  if (cabeceras['Content-Type'] === undefined)
    lista.push('Content-Type', typeof cuerpo === 'string' ? 'text/plain; charset=utf-8' : 'application/json')
  poner(lista, 'Content-Length', String(Buffer.byteLength(texto)))
  escribirCabeza(res, status, lista).end(texto)
  return enviada(res, status, lista, cuerpo)
}

/** Headers that an answer has whatever its body: its own, the limits' and those of every answer. */
function cabecerasDe(req: Request, status: number, propias: Readonly<Record<string, Valor>>): Lista {
  const { id, deApi, admision } = req.solicitud
  const lista: Lista = deApi ? DE_API.slice() : ['Cache-Control', 'no-store']
  if (deApi) lista.push('X-Request-Id', id)
  for (const nombre in propias) poner(lista, nombre, propias[nombre]!)
  if (admision && status < 500 && status !== 401) {
    const { cabeceras } = admision
    poner(lista, 'RateLimit', cabeceras.RateLimit)
    poner(lista, 'RateLimit-Policy', cabeceras['RateLimit-Policy'])
  }
  return lista
}

/** Adds a header, or replaces the one of that name. */
function poner(lista: Lista, nombre: string, valor: Valor): void {
  for (let i = 0; i < lista.length; i += 2) {
    if (lista[i] !== nombre) continue
    lista[i + 1] = valor
    return
  }
  lista.push(nombre, valor)
}

// A list saves the object of twenty members that each answer would make; Node's types know only lists of numbers and texts.
const escribirCabeza = (res: Response, status: number, lista: Lista) => res.writeHead(status, lista as string[])

const enviada = (res: Response, status: number, lista: Lista, cuerpo: unknown): Enviada => ({
  status,
  // Read by tests alone. Headers that were set before the answer was known come first.
  get cabeceras() {
    const suyas = lista.flatMap((nombre, i) => (i % 2 === 0 ? [[nombre, lista[i + 1]] as const] : []))
    return { ...(res.req.solicitud.deApi ? {} : res.getHeaders()), ...Object.fromEntries(suyas) }
  },
  cuerpo,
})

/** How long a reader may read nothing, in milliseconds, before it is let go. */
const PACIENCIA = 30_000

function enviarFlujo(req: Request, res: Response, { contenido }: Flujo) {
  if (req.solicitud.metodo === 'HEAD') {
    contenido.destroy()
    return void res.end()
  }
  res.setTimeout(PACIENCIA, () => res.destroy())
  pipeline(contenido, res, (error) => {
    // Somebody who goes away in the middle is no fault of ours; a disk that does is, and the connection shows it.
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') req.solicitud.error = error
  })
}

/** What tests have called with every answer: it throws when the contract doesn't declare that answer. */
export type Testigo = (req: Request, enviada: Enviada) => void

/**
 * Turns every error into its answer: in Spanish as application/json, or as RFC 9457 has it if Accept names
 * application/problem+json.
 */
export function presentarProblemas(urlPublica: string, testigo?: Testigo): ErrorRequestHandler {
  return (error, req, res, _next) => {
    const problema = deExpress(error) ?? traducirError(error)
    req.solicitud.error = problema.cause ?? problema
    if (res.headersSent) return void res.destroy()
    const { tipo, cuerpo } = segunAccept(problema.presentar(req.solicitud.id, urlPublica), req.headers.accept)
    const enviada = responder(req, res, problema.status, cuerpo, {
      'Content-Type': tipo,
      ...problema.detalles.cabeceras,
    })
    testigo?.(req, enviada)
  }
}

/** The problem that stands for one of Express's own refusals (a path that isn't valid percent-encoding). */
function deExpress(error: unknown): Problema | undefined {
  if (!(error instanceof URIError)) return undefined
  return new Problema('parametro_invalido', 'La ruta no está bien codificada: revise los signos % de la dirección.', {
    cause: error,
  })
}

/** Answers 404 to a path that is no operation, no page and no file. */
export const rutaDesconocida = ({ path }: Request) => {
  const remedio =
    path.endsWith('/') && path !== '/' ? 'Quite la / del final' : 'Revise cómo está escrita, también las mayúsculas'
  throw new Problema(
    'ruta_desconocida',
    `No hay ninguna operación en ${path.slice(0, 200)}. ${remedio}; las rutas de comercios empiezan por /api/v1.`,
  )
}

/** Answers 405 with the allowed methods in `Allow` (RFC 9110, 15.5.6). */
export const metodoNoPermitido = (metodos: readonly string[]) => {
  const allow = metodos.flatMap((metodo) => (metodo === 'get' ? ['GET', 'HEAD'] : [metodo.toUpperCase()])).join(', ')
  return () => {
    throw new Problema('metodo_no_permitido', `Use uno de estos métodos: ${allow}.`, { cabeceras: { Allow: allow } })
  }
}
