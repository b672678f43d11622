import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Request, Response } from 'express'
import { RAIZ } from '../contrato/raiz.ts'

const TIPOS = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  wasm: 'application/wasm',
} as const

interface Recurso {
  /** `estilo.0123456789ab.css`: a changed file is another file, so that it may be kept for ever. */
  nombre: string
  tipo: string
  entero: Buffer
  gzip: Buffer | undefined
  /** Made when the file was generated: its best compression takes longer than a start should. */
  brotli: Buffer | undefined
}
export type Recursos<Archivo extends string> = ReadonlyMap<Archivo, Recurso>

const enGenerado = (archivo: string) => readFileSync(new URL(`server/contrato/generado/paginas/${archivo}`, RAIZ))

/**
 * A page's own files, as `scripts/generar.ts` left them, and what is written here (`propios`). Read once, at start: a page
 * without them is no page.
 */
export function leerRecursos<Archivo extends string>(
  carpeta: string,
  archivos: readonly Archivo[],
  propios: Partial<Record<Archivo, string>> = {},
): Recursos<Archivo> {
  const leer = (archivo: Archivo): Recurso => {
    const propio = propios[archivo]
    const entero = propio === undefined ? enGenerado(carpeta + archivo) : Buffer.from(propio)
    const [base, extension] = archivo.split('.') as [string, keyof typeof TIPOS]
    const marca = createHash('sha256').update(entero).digest('hex').slice(0, 12)
    const hecho = propio === undefined && extension !== 'png'
    return {
      nombre: `${base}.${marca}.${extension}`,
      tipo: TIPOS[extension],
      entero,
      // A megabyte of WebAssembly takes gzip longer than a start should, and every browser that runs it takes brotli.
      gzip: extension === 'png' || extension === 'wasm' ? undefined : gzipSync(entero, { level: 9 }),
      brotli: hecho ? enGenerado(`${carpeta}${archivo}.br`) : undefined,
    }
  }
  return new Map(archivos.map((archivo) => [archivo, leer(archivo)]))
}

/** Answers a request for one of them, by the name that it has in `req.path`. */
export function servirRecurso(recursos: Recursos<string>) {
  const porNombre = new Map([...recursos.values()].map((recurso) => [recurso.nombre, recurso]))
  return (req: Request, res: Response) => {
    res.setHeader('X-Content-Type-Options', 'nosniff')
    res.setHeader('Referrer-Policy', 'no-referrer')
    res.setHeader('X-Robots-Tag', 'noindex')
    const recurso = porNombre.get(req.path.slice(1))
    if (!recurso || (req.method !== 'GET' && req.method !== 'HEAD')) {
      res.statusCode = recurso ? 405 : 404
      if (recurso) res.setHeader('Allow', 'GET, HEAD')
      res.setHeader('Cache-Control', 'no-store')
      res.setHeader('Content-Type', 'text/plain; charset=utf-8')
      return void res.end(recurso ? 'Use GET o HEAD.' : 'No existe.')
    }
    const { brotli, gzip, entero, tipo } = recurso
    // One by one: of several, Express takes the one that the browser happens to name first.
    const codificacion =
      brotli && req.acceptsEncodings('br') ? 'br' : gzip && req.acceptsEncodings('gzip') ? 'gzip' : undefined
    const cuerpo = codificacion === 'br' ? brotli! : codificacion ? gzip! : entero
    res.setHeader('Content-Type', tipo)
    res.setHeader('Cache-Control', 'public, max-age=31536000, immutable')
    res.setHeader('Vary', 'Accept-Encoding')
    if (codificacion) res.setHeader('Content-Encoding', codificacion)
    res.setHeader('Content-Length', cuerpo.length)
    res.end(cuerpo)
  }
}
