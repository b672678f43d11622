import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Express } from 'express'
import { RAIZ } from '../../raiz.ts'
import { type Enlazados, ICONO } from './vista.ts'

const JS = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
const SVG = 'image/svg+xml'
const ARCHIVOS = { 'navegador.js': JS, 'estilo.css': CSS, 'mapa.js': JS, 'mapa.css': CSS, 'icono.svg': SVG } as const
type Archivo = keyof typeof ARCHIVOS

interface Recurso {
  /** `estilo.0123456789ab.css`: a changed file is another file, so that it may be kept for ever. */
  nombre: string
  tipo: string
  entero: Buffer
  gzip: Buffer
  /** Made when the file was generated: its best compression takes longer than a start should. */
  brotli: Buffer | undefined
}

export const PREFIJO = 'u-recursos/'

/** The page's own files, as `scripts/generar.ts` left them. Read once, at start: a page without them is no page. */
export function leerRecursos() {
  const leer = (archivo: string) => readFileSync(new URL(`server/contrato/generado/paginas/${archivo}`, RAIZ))
  const recursos = new Map<Archivo, Recurso>()
  for (const [archivo, tipo] of Object.entries(ARCHIVOS) as [Archivo, string][]) {
    const propio = archivo === 'icono.svg'
    const entero = propio ? Buffer.from(ICONO) : leer(archivo)
    const [base, extension] = archivo.split('.')
    const marca = createHash('sha256').update(entero).digest('hex').slice(0, 12)
    recursos.set(archivo, {
      nombre: `${base}.${marca}.${extension}`,
      tipo,
      entero,
      gzip: gzipSync(entero, { level: 9 }),
      brotli: propio ? undefined : leer(`${archivo}.br`),
    })
  }
  return recursos
}
export type Recursos = ReturnType<typeof leerRecursos>

/** `raiz`: the way from the page up to where the service begins, such as `../`. */
export function enlazar(recursos: Recursos, raiz: string, conMapa: boolean): Enlazados {
  const en = (archivo: Archivo) => raiz + PREFIJO + recursos.get(archivo)!.nombre
  return {
    estilo: en('estilo.css'),
    navegador: en('navegador.js'),
    icono: en('icono.svg'),
    mapa: conMapa ? { modulo: en('mapa.js'), estilo: en('mapa.css') } : undefined,
  }
}

export function servirRecursos(app: Express, recursos: Recursos) {
  const porNombre = new Map([...recursos.values()].map((recurso) => [recurso.nombre, recurso]))
  app.use(`/${PREFIJO.slice(0, -1)}`, (req, res) => {
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
    const codificacion = brotli && req.acceptsEncodings('br') ? 'br' : req.acceptsEncodings('gzip') ? 'gzip' : undefined
    const cuerpo = codificacion === 'br' ? brotli! : codificacion ? gzip : entero
    res.setHeader('Content-Type', tipo)
    res.setHeader('Cache-Control', 'public, max-age=31536000, immutable')
    res.setHeader('Vary', 'Accept-Encoding')
    if (codificacion) res.setHeader('Content-Encoding', codificacion)
    res.setHeader('Content-Length', cuerpo.length)
    res.end(cuerpo)
  })
}
