import { gzipSync } from 'node:zlib'
import type { Request, Response } from 'express'

/** What a page answers with. */
export interface Respuesta {
  status: number
  html: string
  cabeceras?: Readonly<Record<string, string>>
}

/** For pages that are whoever's who has their address: nobody keeps, finds, frames or passes them on. */
export function ponerCabeceras(res: Response, csp: string, permisos: string) {
  res.setHeader('Content-Security-Policy', csp)
  res.setHeader('Referrer-Policy', 'no-referrer')
  res.setHeader('Cache-Control', 'no-store')
  res.setHeader('X-Robots-Tag', 'noindex')
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.setHeader('Permissions-Policy', permisos)
  res.setHeader('Content-Language', 'es')
  res.setHeader('Content-Type', 'text/html; charset=utf-8')
  res.setHeader('Vary', 'Accept-Encoding')
}

export function enviar(req: Request, res: Response, { status, html, cabeceras = {} }: Respuesta) {
  res.statusCode = status
  for (const [nombre, valor] of Object.entries(cabeceras)) res.setHeader(nombre, valor)
  const comprimir = html !== '' && req.acceptsEncodings('gzip')
  if (comprimir) res.setHeader('Content-Encoding', 'gzip')
  const cuerpo = comprimir ? gzipSync(html) : Buffer.from(html)
  res.setHeader('Content-Length', cuerpo.length)
  // What is left of a body that was refused is not read.
  if (req.method === 'POST' && !req.complete) res.setHeader('Connection', 'close')
  res.end(cuerpo)
}

/** For the log line of the request, where there is one: see server/http/solicitud.ts. */
export function anotarFallo(req: Request, error: unknown) {
  if (req.solicitud) req.solicitud.error = error
}

/** From `/u/x` one step up, from `/u/x/y` two. */
export const raizDesde = (req: Request) => '../'.repeat((req.originalUrl.split('?')[0] ?? '').split('/').length - 2)

export { redDe } from '../http/red.ts'
