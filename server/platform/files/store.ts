import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { unavailable } from '../errors.ts'

/** Byte range of a file, from `desde` to `hasta`, both inclusive. */
export interface ByteRange {
  desde: number
  hasta: number
}

/** Response that the storage's own link gives to the client. */
export interface FileDownload {
  /** The only HTTP method for which the link is valid. */
  metodo: 'GET' | 'HEAD'
  mime: string
  /** Value of the `Content-Disposition` header. */
  disposicion: string
}

/**
 * Storage for the bytes of files. The service creates the keys (letters, digits, `_`, `-`) and uses each key only once,
 * so stored content never changes.
 * @throws Problema 503 from every method if the storage is unavailable
 */
export interface FileStore {
  /**
   * Stores the content durably before the promise resolves. No reader ever sees part of the content under the key.
   * After an error the content may still be stored, because only the response was lost. The process that reserved the
   * key must have the file deleted.
   */
  guardar(clave: string, contenido: Buffer, mime: string): Promise<void>
  /** Opens the file before the promise resolves, so that the caller can still answer that the file is missing. */
  leer(clave: string, rango?: ByteRange): Promise<Readable>
  /** Reports whether a file has content under that key. */
  existe(clave: string): Promise<boolean>
  /**
   * Creates a link to the storage itself, valid for minutes. Undefined if the storage cannot serve files; the service
   * then reads the file and sends the bytes.
   */
  enlazar?(clave: string, descarga: FileDownload): Promise<string>
  /** Deletes a file. Deleting a missing file succeeds. */
  borrar(clave: string): Promise<void>
  /** Lists every key that has content, even incomplete content, with the time of the last write. */
  listar(): AsyncIterable<{ clave: string; modificado_en: Date }>
}

/** Error for a storage that cannot be used. The message tells the operator, in Spanish, what to correct. */
export class FileStoreError extends Error {
  override readonly name = 'FileStoreError'
}

const CLAVE = /^[A-Za-z0-9_-]{4,100}$/

/** Reports whether a name is a valid storage key: 4 to 100 letters, digits, `_` or `-`. */
export const isStorageKey = (nombre: string) => CLAVE.test(nombre)

/**
 * Returns the key unchanged if it is valid. A valid key can never be a path.
 * @throws Error if the key is invalid
 */
export function requireStorageKey(clave: string): string {
  if (!isStorageKey(clave)) throw new Error(`invalid storage key: ${clave.slice(0, 40)}`)
  return clave
}

/** Creates the `Problema` 503 for a storage that is unavailable. */
export const storeBusy = (cause: unknown) =>
  unavailable('El almacén de archivos no está disponible. Repita la solicitud en unos segundos.', cause)

const PARCIAL = '.parcial'

/**
 * Creates a storage in a folder that all processes of the service share. The last two characters of a key name its
 * subfolder.
 */
export function createLocalStore(carpeta: string): FileStore {
  const ruta = (clave: string) => join(carpeta, requireStorageKey(clave).slice(-2), clave)
  return {
    guardar: (clave, contenido) =>
      orUnavailable(async () => {
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
      orUnavailable(async () => {
        const abierto = await open(ruta(clave))
        return abierto.createReadStream(rango && { start: rango.desde, end: rango.hasta })
      }),
    existe: (clave) => orUnavailable(async () => (await stat(ruta(clave)).catch(noEncontrado)) !== undefined),
    borrar: (clave) =>
      orUnavailable(async () => {
        const final = ruta(clave)
        await rm(final, { force: true })
        await rm(`${final}${PARCIAL}`, { force: true })
      }),
    async *listar() {
      for (const sub of await listarCarpeta(carpeta)) {
        for (const nombre of await listarCarpeta(join(carpeta, sub))) {
          const clave = nombre.endsWith(PARCIAL) ? nombre.slice(0, -PARCIAL.length) : nombre
          const suyo = await stat(join(carpeta, sub, nombre)).catch(() => undefined)
          if (suyo?.isFile() && isStorageKey(clave)) yield { clave, modificado_en: suyo.mtime }
        }
      }
    },
  }
}

function noEncontrado(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

const listarCarpeta = (carpeta: string) => readdir(carpeta).catch(() => [])

/** Flushes a folder to disk. A new or renamed file survives a crash only after this. */
async function sincronizar(carpeta: string) {
  const abierta = await open(carpeta)
  try {
    await abierta.sync()
  } finally {
    await abierta.close()
  }
}

/**
 * Runs a file system operation. A failed system call (disk full, file missing, no permission) becomes a `Problema` 503.
 * Any other error passes through unchanged.
 */
export async function orUnavailable<T>(hacer: () => Promise<T>): Promise<T> {
  try {
    return await hacer()
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw storeBusy(error)
  }
}
