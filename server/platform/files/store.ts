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
  method: 'GET' | 'HEAD'
  mime: string
  /** Value of the `Content-Disposition` header. */
  disposition: string
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
  save(key: string, content: Buffer, mime: string): Promise<void>
  /** Opens the file before the promise resolves, so that the caller can still answer that the file is missing. */
  read(key: string, range?: ByteRange): Promise<Readable>
  /** Reports whether a file has content under that key. */
  exists(key: string): Promise<boolean>
  /**
   * Creates a link to the storage itself, valid for minutes. Undefined if the storage cannot serve files; the service
   * then reads the file and sends the bytes.
   */
  link?(key: string, download: FileDownload): Promise<string>
  /** Deletes a file. Deleting a missing file succeeds. */
  remove(key: string): Promise<void>
  /** Lists every key that has content, even incomplete content, with the time of the last write. */
  list(): AsyncIterable<{ clave: string; modifiedAt: Date }>
}

/** Error for a storage that cannot be used. The message tells the operator, in Spanish, what to correct. */
export class FileStoreError extends Error {
  override readonly name = 'FileStoreError'
}

const KEY_FORM = /^[A-Za-z0-9_-]{4,100}$/

/** Reports whether a name is a valid storage key: 4 to 100 letters, digits, `_` or `-`. */
export const isStorageKey = (name: string) => KEY_FORM.test(name)

/**
 * Returns the key unchanged if it is valid. A valid key can never be a path.
 * @throws Error if the key is invalid
 */
export function requireStorageKey(key: string): string {
  if (!isStorageKey(key)) throw new Error(`invalid storage key: ${key.slice(0, 40)}`)
  return key
}

/** Creates the `Problema` 503 for a storage that is unavailable. */
export const storeBusy = (cause: unknown) =>
  unavailable('El almacén de archivos no está disponible. Repita la solicitud en unos segundos.', cause)

const PARTIAL_SUFFIX = '.parcial'

/**
 * Creates a storage in a folder that all processes of the service share. The last two characters of a key name its
 * subfolder.
 */
export function createLocalStore(folder: string): FileStore {
  const pathOf = (key: string) => join(folder, requireStorageKey(key).slice(-2), key)
  return {
    save: (key, content) =>
      orUnavailable(async () => {
        const final = pathOf(key)
        const partialPath = `${final}${PARTIAL_SUFFIX}`
        const parentFolder = dirname(final)
        if (await mkdir(parentFolder, { recursive: true })) await syncFolder(folder)
        try {
          await writeFile(partialPath, content, { mode: 0o600, flush: true })
          await rename(partialPath, final)
        } catch (error) {
          await rm(partialPath, { force: true }).catch(() => {})
          throw error
        }
        await syncFolder(parentFolder)
      }),
    read: (key, range) =>
      orUnavailable(async () => {
        const openFile = await open(pathOf(key))
        return openFile.createReadStream(range && { start: range.desde, end: range.hasta })
      }),
    exists: (key) => orUnavailable(async () => (await stat(pathOf(key)).catch(ignoreNotFound)) !== undefined),
    remove: (key) =>
      orUnavailable(async () => {
        const final = pathOf(key)
        await rm(final, { force: true })
        await rm(`${final}${PARTIAL_SUFFIX}`, { force: true })
      }),
    async *list() {
      for (const sub of await listFolder(folder)) {
        for (const name of await listFolder(join(folder, sub))) {
          const clave = name.endsWith(PARTIAL_SUFFIX) ? name.slice(0, -PARTIAL_SUFFIX.length) : name
          const fileStat = await stat(join(folder, sub, name)).catch(() => undefined)
          if (fileStat?.isFile() && isStorageKey(clave)) yield { clave, modifiedAt: fileStat.mtime }
        }
      }
    },
  }
}

function ignoreNotFound(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

const listFolder = (folder: string) => readdir(folder).catch(() => [])

/** Flushes a folder to disk. A new or renamed file survives a crash only after this. */
async function syncFolder(folder: string) {
  const abierta = await open(folder)
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
export async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw storeBusy(error)
  }
}
