import { readFileSync } from 'node:fs'
import type { Express, Request, Response } from 'express'
import { RAIZ } from '../../contrato/raiz.ts'

/** As `scripts/generar.ts` packs them; the first that the reader takes is sent, whatever he would rather have. */
const EMPAQUES = { br: '.br', gzip: '.gz' } as const

/**
 * Redoc on one page, offline; the bundled merchant contract that it was made from; and its operations as a collection. Read
 * at first use: the page has 3 MB, and a fifth of that on its way.
 */
export function servirDocumentacion(app: Express) {
  let csp: string | undefined
  const archivos = new Map<string, Buffer>()
  const leer = (archivo: string) => {
    const leido = archivos.get(archivo) ?? readFileSync(new URL(`server/contrato/generado/${archivo}`, RAIZ))
    archivos.set(archivo, leido)
    return leido
  }
  const enviar = (archivo: string, tipo: string) => (req: Request, res: Response) => {
    const codificacion = (['br', 'gzip'] as const).find((una) => req.acceptsEncodings(una))
    res.setHeader('Content-Type', tipo)
    res.setHeader('Cache-Control', 'public, max-age=300')
    res.setHeader('Vary', 'Accept-Encoding')
    if (codificacion) res.setHeader('Content-Encoding', codificacion)
    res.end(leer(archivo + (codificacion ? EMPAQUES[codificacion] : '')))
  }
  app.get('/openapi.json', enviar('comercios.json', 'application/json'))
  app.get('/openapi.yaml', enviar('comercios.yaml', 'application/yaml'))
  app.get('/coleccion.json', enviar('coleccion.json', 'application/json'))
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
