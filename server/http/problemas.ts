import { pipeline } from 'node:stream'
import type { ErrorRequestHandler, Request, Response } from 'express'
import { Problema, traducirError } from '../errores.ts'
import { Flujo } from './flujo.ts'
import { segunAccept } from './rfc9457.ts'

/** Writes an answer, as JSON unless its headers say otherwise; nothing else writes answers. */
export function responder(
  req: Request,
  res: Response,
  status: number,
  cuerpo: unknown,
  cabeceras: Readonly<Record<string, string>> = {},
) {
  res.statusCode = status
  res.setHeader('Cache-Control', 'no-store')
  for (const [nombre, valor] of Object.entries(cabeceras)) res.setHeader(nombre, valor)
  if (cuerpo === undefined) return void res.end()
  if (cuerpo instanceof Flujo) return enviarFlujo(req, res, cuerpo)
  const texto = typeof cuerpo === 'string' ? cuerpo : JSON.stringify(cuerpo)
  if (typeof cuerpo === 'string') res.setHeader('Content-Type', 'text/plain; charset=utf-8')
  else if (!res.hasHeader('Content-Type')) res.setHeader('Content-Type', 'application/json')
  res.setHeader('Content-Length', Buffer.byteLength(texto))
  res.end(texto)
}

/** How long a reader may read nothing, in milliseconds, before it is let go. */
const PACIENCIA = 30_000

function enviarFlujo(req: Request, res: Response, { mime, bytes, contenido }: Flujo) {
  res.setHeader('Content-Type', mime)
  res.setHeader('Content-Length', bytes)
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
export type Testigo = (
  req: Request,
  status: number,
  cabeceras: Readonly<Record<string, unknown>>,
  cuerpo: unknown,
) => void

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
    res.setHeader('Content-Type', tipo)
    responder(req, res, problema.status, cuerpo, problema.detalles.cabeceras)
    testigo?.(req, problema.status, res.getHeaders(), cuerpo)
  }
}

/** The problem that stands for one of Express's own refusals (a path that isn't valid percent-encoding). */
function deExpress(error: unknown): Problema | undefined {
  if (!(error instanceof URIError)) return undefined
  return new Problema('parametro_invalido', 'La ruta no está bien codificada: revise los signos % de la dirección.', {
    cause: error,
  })
}

export const rutaDesconocida = (req: Request) => {
  throw new Problema(
    'ruta_desconocida',
    `No hay ninguna operación en ${req.path.slice(0, 200)}. Las rutas de comercios empiezan por /api/v1.`,
  )
}

/** Answers 405 with the allowed methods in `Allow` (RFC 9110, 15.5.6). */
export const metodoNoPermitido = (metodos: readonly string[]) => {
  const allow = metodos.flatMap((metodo) => (metodo === 'get' ? ['GET', 'HEAD'] : [metodo.toUpperCase()])).join(', ')
  return () => {
    throw new Problema('metodo_no_permitido', `Use uno de estos métodos: ${allow}.`, { cabeceras: { Allow: allow } })
  }
}
