import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ErrorAbortado } from '@guias/sdk'
import { dormirSinError, ErrorDeUso } from './orden.ts'
import { porque } from './porque.ts'

/**
 * Checks that no file exists at these paths, unless `forzar` is true. Commands call this before their first request.
 *
 * @throws ErrorDeUso naming the first existing path and the remedy
 */
export function exigirLibres(rutas: readonly string[], forzar: boolean, remedio: string) {
  const hay = forzar ? [] : rutas.filter((ruta) => existsSync(ruta))
  if (hay.length === 0) return
  const que = hay.length === 1 ? `${hay[0]} ya existe` : `${hay[0]} y otros ${hay.length - 1} ya existen`
  throw new ErrorDeUso(`${que}: ${remedio}, o reemplace lo que hay con --forzar.`)
}

/**
 * Paths of temporary files and folders in use. The exit handler deletes these files, so that the process leaves no
 * partial file.
 */
const provisionales = new Set<string>()
process.on('exit', () => {
  for (const ruta of provisionales) rmSync(ruta, { recursive: true, force: true })
})

/**
 * Creates a file or folder under a temporary name in the same folder, then renames it. A partial file or folder never
 * appears at `ruta`.
 *
 * @param hacer writes the content at the temporary path that it receives
 * @throws ErrorDeUso if the file system refuses a step
 */
export async function ponerEntero(ruta: string, hacer: (provisional: string) => Promise<void> | void) {
  const provisional = `${ruta}.${process.pid}.parte`
  provisionales.add(provisional)
  try {
    mkdirSync(dirname(ruta), { recursive: true })
    await hacer(provisional)
    renameSync(provisional, ruta)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    throw new ErrorDeUso(`No se pudo escribir ${ruta}: ${porque(error)}.`)
  } finally {
    rmSync(provisional, { recursive: true, force: true })
    provisionales.delete(provisional)
  }
}

/** Writes a file through {@link ponerEntero}; `mode` is the mode of the new file. */
export const escribirEntero = (ruta: string, contenido: Uint8Array | string, mode = 0o666) =>
  ponerEntero(ruta, (provisional) => writeFileSync(provisional, contenido, { mode }))

/**
 * Error when a signed link gives no usable file: the download fails, or the digest is wrong. A signed link does not
 * answer errors with the API's `Problema`.
 */
export class ErrorDeDescarga extends Error {
  override name = 'ErrorDeDescarga'
}

const INTENTOS = 3
const ESPERA_MAXIMA = 60_000
/** Deadline of one download attempt, in milliseconds. The largest files have some tens of megabytes. */
const PLAZO = 120_000

/**
 * Downloads the file behind a signed link. Retries network failures, 429 and 5xx: at most 3 attempts, with at most 60 s
 * between two.
 *
 * @throws ErrorDeDescarga if the file cannot be downloaded
 * @throws ErrorAbortado if `signal` is aborted
 */
export async function descargar(url: string, que: string, signal: AbortSignal): Promise<Buffer> {
  for (let intento = 1; ; intento++) {
    const { bytes, falla, espera } = await traer(url, 1000 * 2 ** intento, signal)
    if (signal.aborted) throw new ErrorAbortado('Interrumpido.')
    if (bytes) return bytes
    if (espera === undefined || espera > ESPERA_MAXIMA || intento === INTENTOS) {
      throw new ErrorDeDescarga(`No se pudo descargar ${que} de ${new URL(url).origin}: ${falla}. Repita la orden.`)
    }
    await dormirSinError(espera, signal)
  }
}

/**
 * Downloads once. Returns the bytes, or the failure with the milliseconds to wait before a retry. `espera` is undefined
 * if a retry cannot help.
 */
async function traer(url: string, pausa: number, signal: AbortSignal) {
  try {
    const respuesta = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(PLAZO)]) })
    if (respuesta.ok) return { bytes: Buffer.from(await respuesta.arrayBuffer()), falla: '', espera: undefined }
    await respuesta.body?.cancel()
    const { status, headers } = respuesta
    const pide = Number(headers.get('retry-after')) * 1000 || 0
    return { falla: `contestó ${status}`, espera: status >= 500 || status === 429 ? Math.max(pausa, pide) : undefined }
  } catch (error) {
    const { message, cause } = error as Error
    const que = cause instanceof Error ? cause.message || String((cause as { code?: string }).code) : message
    return { falla: que, espera: pausa }
  }
}
