import { pipeline } from 'node:stream'
import type { ErrorRequestHandler, Request, Response } from 'express'
import { Problema, traducirError } from '../errores.ts'
import { CABECERAS } from './cabeceras.ts'
import { coincideEtag, etagDe } from './condicional.ts'
import { Flujo } from './flujo.ts'
import { segunAccept } from './rfc9457.ts'

/** What an answer of the merchants' API carries besides its own headers. */
const DE_API: Readonly<Record<string, string>> = { ...CABECERAS, 'Cache-Control': 'no-store' }

/** An answer as it went out, but for the headers of the connection. */
interface Enviada {
  status: number
  cabeceras: Readonly<Record<string, unknown>>
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
  cabeceras: Readonly<Record<string, string | string[]>> = {},
): Enviada {
  const { id, deApi, operacion, admision } = req.solicitud
  const suyas: Record<string, string | string[]> = deApi
    ? { ...DE_API, 'X-Request-Id': id, ...cabeceras }
    : { 'Cache-Control': 'no-store', ...cabeceras }
  if (admision && status < 500 && status !== 401) Object.assign(suyas, admision.cabeceras)
  if (cuerpo instanceof Flujo) {
    suyas['Content-Type'] = cuerpo.mime
    if (cuerpo.bytes !== undefined) suyas['Content-Length'] = String(cuerpo.bytes)
    res.writeHead(status, suyas)
    enviarFlujo(req, res, cuerpo)
  } else if (cuerpo === undefined) {
    res.writeHead(status, suyas).end()
  } else {
    const texto = typeof cuerpo === 'string' ? cuerpo : JSON.stringify(cuerpo)
    if (status === 200 && operacion?.condicional) {
      const etag = etagDe(texto)
      suyas.ETag = etag
      suyas['Cache-Control'] = cabeceras['Cache-Control'] ?? 'private, no-cache'
      if (coincideEtag(req.headers['if-none-match'], etag)) {
        res.writeHead(304, suyas).end()
        return { status: 304, cabeceras: todas(res, suyas), cuerpo: undefined }
      }
    }
    suyas['Content-Type'] ??= typeof cuerpo === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
    suyas['Content-Length'] = String(Buffer.byteLength(texto))
    res.writeHead(status, suyas).end(texto)
  }
  return { status, cabeceras: todas(res, suyas), cuerpo }
}

/** An answer's own headers, and those that were set before it was known what the answer would be. */
const todas = (res: Response, suyas: Readonly<Record<string, string | string[]>>) =>
  res.req.solicitud.deApi ? suyas : { ...res.getHeaders(), ...suyas }

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
