import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { noDisponible } from '../errores.ts'

/** A part of a file: its bytes from `desde` to `hasta`, both included. */
export interface Rango {
  desde: number
  hasta: number
}

/** How whoever follows a storage's own link gets the file. */
export interface Descarga {
  /** The link is good for this method alone. */
  metodo: 'GET' | 'HEAD'
  mime: string
  /** Content-Disposition. */
  disposicion: string
}

/**
 * Where the bytes of files are kept, under keys of our own making (letters, digits, `_`, `-`) that are used once, so
 * that what is kept never changes; whatever a storage can't do now is a `Problema` 503.
 */
export interface Almacen {
  /**
   * When it comes back the bytes are safe; a part of them is never to be seen under that key. When it throws, they may have
   * arrived all the same (an answer was lost): whoever reserved the key has it deleted.
   */
  guardar(clave: string, contenido: Buffer, mime: string): Promise<void>
  /** Opens before it comes back, so that what isn't there is known before an answer has begun. */
  leer(clave: string, rango?: Rango): Promise<Readable>
  /** Of a storage that serves files itself: its own link, good for minutes. Otherwise we read and send. */
  enlazar?(clave: string, descarga: Descarga): Promise<string>
  /** What isn't there is deleted already. */
  borrar(clave: string): Promise<void>
  /** Every key under which there is something, be it left half-written, and when it was last written. */
  listar(): AsyncIterable<{ clave: string; modificado_en: Date }>
}

/** Why a storage can't be used, in words for whoever configured it. */
export class ErrorDeAlmacen extends Error {
  override readonly name = 'ErrorDeAlmacen'
}

const CLAVE = /^[A-Za-z0-9_-]{4,100}$/

/** Whether a name may be the key of a stored file. */
export const esClave = (nombre: string) => CLAVE.test(nombre)

/** Gives back the key of a stored file, and throws for what could be a path. */
export function exigirClave(clave: string): string {
  if (!esClave(clave)) throw new Error(`no key of the storage: ${clave.slice(0, 40)}`)
  return clave
}

/** The 503 for a storage that can't do just now what it was asked. */
export const almacenOcupado = (cause: unknown) =>
  noDisponible('El almacén de archivos no está disponible. Repita la solicitud en unos segundos.', cause)

const PARCIAL = '.parcial'

/**
 * Creates a storage in a folder that all processes of the service share; files are spread over subfolders by the end
 * of their keys.
 */
export function crearAlmacenLocal(carpeta: string): Almacen {
  const ruta = (clave: string) => join(carpeta, exigirClave(clave).slice(-2), clave)
  return {
    guardar: (clave, contenido) =>
      oNoDisponible(async () => {
        const final = ruta(clave)
        const parcial = `${final}${PARCIAL}`
        const suya = dirname(final)
        if (await mkdir(suya, { recursive: true })) await sincronizar(carpeta)
        try {
          await writeFile(parcial, contenido, { mode: 0o600, flush: true })
          await rename(parcial, final)
        } catch (error) {
          await rm(parcial, { force: true }).catch(() => {})
          throw error
        }
        await sincronizar(suya)
      }),
    leer: (clave, rango) =>
      oNoDisponible(async () => {
        const abierto = await open(ruta(clave))
        return abierto.createReadStream(rango && { start: rango.desde, end: rango.hasta })
      }),
    borrar: (clave) =>
      oNoDisponible(async () => {
        const final = ruta(clave)
        await rm(final, { force: true })
        await rm(`${final}${PARCIAL}`, { force: true })
      }),
    async *listar() {
      for (const sub of await listarCarpeta(carpeta)) {
        for (const nombre of await listarCarpeta(join(carpeta, sub))) {
          const clave = nombre.endsWith(PARCIAL) ? nombre.slice(0, -PARCIAL.length) : nombre
          const suyo = await stat(join(carpeta, sub, nombre)).catch(() => undefined)
          if (suyo?.isFile() && esClave(clave)) yield { clave, modificado_en: suyo.mtime }
        }
      }
    },
  }
}

const listarCarpeta = (carpeta: string) => readdir(carpeta).catch(() => [])

/** A name is safe once its folder is. */
async function sincronizar(carpeta: string) {
  const abierta = await open(carpeta)
  try {
    await abierta.sync()
  } finally {
    await abierta.close()
  }
}

/**
 * Runs what touches the file system: what that refuses (full, gone, not ours) becomes a 503, any other error stays
 * what it is.
 */
export async function oNoDisponible<T>(hacer: () => Promise<T>): Promise<T> {
  try {
    return await hacer()
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw almacenOcupado(error)
  }
}
