import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Express } from 'express'
import { RAIZ } from '../contrato/raiz.ts'
import { type Cuerpo, cuerpoDe, DE_LECTURA, enviar, FIJA, PRIVADA, type Respuesta } from './respuesta.ts'

const TIPOS = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  wasm: 'application/wasm',
} as const

/** Files by their paths from where the service begins, such as `/docs`. */
export type Archivos = ReadonlyMap<string, Omit<Respuesta, 'status'>>

/** Reads a file that `scripts/generar.ts` left, such as `paginas/rastreo/estilo.css`. */
export const leerGenerado = (archivo: string) => readFileSync(new URL(`server/contrato/generado/${archivo}`, RAIZ))

/** A generated file as a body, in each encoding that it was packed in, read when it is first sent. */
export function cuerpoGenerado(archivo: string): Cuerpo {
  const leidos = new Map<string, Buffer>()
  const leer = (nombre: string) => () => {
    const leido = leidos.get(nombre) ?? leerGenerado(nombre)
    leidos.set(nombre, leido)
    return leido
  }
  return { identity: leer(archivo), gzip: leer(`${archivo}.gz`), br: leer(`${archivo}.br`) }
}

/**
 * A page's own files, each under a name that changes with it, such as `estilo.0123456789ab.css`, so that it may be kept for
 * ever. All of them are looked at when the server starts: a page without its files is no page.
 * @param base where the files are served, such as `repartidor/recursos/`
 */
export function leerRecursos<Nombre extends string>(carpeta: string, base: string, nombres: readonly Nombre[]) {
  const recursos = nombres.map((nombre) => {
    const archivo = `paginas/${carpeta}/${nombre}`
    const entero = leerGenerado(archivo)
    const [antes, extension] = nombre.split('.') as [string, keyof typeof TIPOS]
    const marca = createHash('sha256').update(entero).digest('hex').slice(0, 12)
    const cuerpo = extension === 'png' ? { identity: () => entero } : cuerpoGenerado(archivo)
    return { nombre, ruta: `${base}${antes}.${marca}.${extension}`, tipo: TIPOS[extension], cuerpo }
  })
  const rutas = new Map(recursos.map(({ nombre, ruta }) => [nombre, ruta]))
  return {
    ruta: (nombre: Nombre) => rutas.get(nombre)!,
    archivos: new Map(recursos.map(({ ruta, tipo, cuerpo }) => [`/${ruta}`, { tipo, cuerpo, cabeceras: FIJA }])),
  }
}

/** Serves files that are the same for everybody; whoever adds a slash to a path is sent where it is. */
export function servirArchivos(app: Express, archivos: Archivos) {
  app.use((req, res, next) => {
    const sinBarra = req.path.replace(/\/$/, '')
    const archivo = archivos.get(sinBarra)
    if (!archivo) return next()
    if (!DE_LECTURA.includes(req.method)) {
      const cabeceras = { ...PRIVADA, Allow: DE_LECTURA.join(', ') }
      const cuerpo = cuerpoDe('Use GET o HEAD.')
      return enviar(req, res, { status: 405, tipo: 'text/plain; charset=utf-8', cuerpo, cabeceras })
    }
    if (req.path === sinBarra) return enviar(req, res, { status: 200, ...archivo })
    // Relative, so that it holds below any prefix.
    const Location = `../${sinBarra.split('/').at(-1)}`
    enviar(req, res, { status: 308, cabeceras: { ...PRIVADA, Location } })
  })
}
