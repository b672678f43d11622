import { readFileSync } from 'node:fs'
import type { Express, Request, Response } from 'express'
import { RAIZ } from '../../raiz.ts'

const generado = (archivo: string) => new URL(`server/contrato/generado/${archivo}`, RAIZ)

/** Redoc on one page, offline, and the bundled merchant contract it was made from. Read at first use: 2.5 MB. */
export function servirDocumentacion(app: Express) {
  let csp: string | undefined
  const archivos = new Map<string, Buffer>()
  const leer = (archivo: string) => {
    const leido = archivos.get(archivo) ?? readFileSync(generado(archivo))
    archivos.set(archivo, leido)
    return leido
  }
  const enviar = (archivo: string, tipo: string) => (_req: Request, res: Response) => {
    res.setHeader('Content-Type', tipo)
    res.setHeader('Cache-Control', 'public, max-age=300')
    res.end(leer(archivo))
  }
  app.get('/openapi.json', enviar('comercios.json', 'application/json'))
  app.get('/openapi.yaml', enviar('comercios.yaml', 'application/yaml'))
  app.get('/docs', (req, res) => {
    csp ??= politica((JSON.parse(leer('documentacion.json').toString()) as { scripts: string[] }).scripts)
    res.setHeader('Content-Security-Policy', csp)
    enviar('documentacion.html', 'text/html; charset=utf-8')(req, res)
  })
}

/** Scripts by hash. Redoc styles itself in the page, and searches in a worker that it builds from a blob. */
const politica = (scripts: readonly string[]) =>
  [
    "default-src 'none'",
    `script-src ${scripts.join(' ')}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self' data:",
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
