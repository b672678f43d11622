import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ErrorAbortado } from '@guias/sdk'
import { explainSystemError } from './cause.ts'
import { sleepUntilAborted, UsageError } from './command.ts'

/**
 * Checks that no file exists at these paths, unless `forzar` is true. Commands call this before their first request.
 *
 * @throws UsageError naming the first existing path and the remedy
 */
export function requireFreePaths(paths: readonly string[], forzar: boolean, remedy: string) {
  const existing = forzar ? [] : paths.filter((path) => existsSync(path))
  if (existing.length === 0) return
  const conflictText =
    existing.length === 1 ? `${existing[0]} ya existe` : `${existing[0]} y otros ${existing.length - 1} ya existen`
  throw new UsageError(`${conflictText}: ${remedy}, o reemplace lo que hay con --forzar.`)
}

/**
 * Paths of temporary files and folders in use. The exit handler deletes these files, so that the process leaves no
 * partial file.
 */
const temporaryPaths = new Set<string>()
process.on('exit', () => {
  for (const path of temporaryPaths) rmSync(path, { recursive: true, force: true })
})

/**
 * Creates a file or folder under a temporary name in the same folder, then renames it. A partial file or folder never
 * appears at `path`.
 *
 * @param writeContent writes the content at the temporary path that it receives
 * @throws UsageError if the file system refuses a step
 */
export async function putAtomically(path: string, writeContent: (provisional: string) => Promise<void> | void) {
  const provisional = `${path}.${process.pid}.parte`
  temporaryPaths.add(provisional)
  try {
    mkdirSync(dirname(path), { recursive: true })
    await writeContent(provisional)
    renameSync(provisional, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    throw new UsageError(`No se pudo escribir ${path}: ${explainSystemError(error)}.`)
  } finally {
    rmSync(provisional, { recursive: true, force: true })
    temporaryPaths.delete(provisional)
  }
}

/** Writes a file through {@link putAtomically}; `mode` is the mode of the new file. */
export const writeFileAtomically = (path: string, content: Uint8Array | string, mode = 0o666) =>
  putAtomically(path, (provisional) => writeFileSync(provisional, content, { mode }))

/**
 * Error when a signed link gives no usable file: the download fails, or the digest is wrong. A signed link does not
 * answer errors with the API's `Problema`.
 */
export class DownloadError extends Error {
  override name = 'ErrorDeDescarga'
}

const INTENTOS = 3
const MAX_DELAY_MS = 60_000
/** Deadline of one download attempt, in milliseconds. The largest files have some tens of megabytes. */
const DOWNLOAD_TIMEOUT_MS = 120_000

/**
 * Downloads the file behind a signed link. Retries network failures, 429 and 5xx: at most 3 attempts, with at most 60 s
 * between two.
 *
 * @throws ErrorDeDescarga if the file cannot be downloaded
 * @throws ErrorAbortado if `signal` is aborted
 */
export async function download(url: string, fileLabel: string, signal: AbortSignal): Promise<Buffer> {
  for (let intento = 1; ; intento++) {
    const { bytes, falla, delay } = await downloadOnce(url, 1000 * 2 ** intento, signal)
    if (signal.aborted) throw new ErrorAbortado('Interrumpido.')
    if (bytes) return bytes
    if (delay === undefined || delay > MAX_DELAY_MS || intento === INTENTOS) {
      throw new DownloadError(`No se pudo descargar ${fileLabel} de ${new URL(url).origin}: ${falla}. Repita la orden.`)
    }
    await sleepUntilAborted(delay, signal)
  }
}

/**
 * Downloads once. Returns the bytes, or the failure with the milliseconds to wait before a retry. `delay` is undefined
 * if a retry cannot help.
 */
async function downloadOnce(url: string, retryPauseMs: number, signal: AbortSignal) {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)]) })
    if (response.ok) return { bytes: Buffer.from(await response.arrayBuffer()), falla: '', delay: undefined }
    await response.body?.cancel()
    const { status, headers } = response
    const pide = Number(headers.get('retry-after')) * 1000 || 0
    return {
      falla: `contestó ${status}`,
      delay: status >= 500 || status === 429 ? Math.max(retryPauseMs, pide) : undefined,
    }
  } catch (error) {
    const { message, cause } = error as Error
    const reason = cause instanceof Error ? cause.message || String((cause as { code?: string }).code) : message
    return { falla: reason, delay: retryPauseMs }
  }
}
