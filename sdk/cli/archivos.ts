import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ErrorAbortado } from '@guias/sdk'
import { dormir, ErrorDeUso } from './orden.ts'
import { porque } from './porque.ts'

/** Refuses to write over what is there, before anything was asked for. */
export function exigirLibres(rutas: readonly string[], forzar: boolean, remedio: string) {
  const hay = forzar ? [] : rutas.filter((ruta) => existsSync(ruta))
  if (hay.length === 0) return
  const que = hay.length === 1 ? `${hay[0]} ya existe` : `${hay[0]} y otros ${hay.length - 1} ya existen`
  throw new ErrorDeUso(`${que}: ${remedio}, o reemplace lo que hay con --forzar.`)
}

/** What is under way, so that whatever ends this process leaves nothing half made. */
const provisionales = new Set<string>()
process.on('exit', () => {
  for (const ruta of provisionales) rmSync(ruta, { recursive: true, force: true })
})

/**
 * Makes a file or a folder beside its place and moves it there when it is whole: there is never half a one.
 *
 * @param hacer writes it at the path that it is given
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

export const escribirEntero = (ruta: string, contenido: Uint8Array | string, mode = 0o666) =>
  ponerEntero(ruta, (provisional) => writeFileSync(provisional, contenido, { mode }))

/** A link that gave nothing: the service's answer about it isn't one of the API's. */
export class ErrorDeDescarga extends Error {
  override name = 'ErrorDeDescarga'
}

const INTENTOS = 3
const ESPERA_MAXIMA = 60_000
/** For one file, of which the largest have some tens of megabytes. */
const PLAZO = 120_000

/** Brings what a signed link leads to, trying again what may pass. @throws ErrorDeDescarga */
export async function descargar(url: string, que: string, signal: AbortSignal): Promise<Buffer> {
  for (let intento = 1; ; intento++) {
    const { bytes, falla, espera } = await traer(url, 1000 * 2 ** intento, signal)
    if (signal.aborted) throw new ErrorAbortado('Interrumpido.')
    if (bytes) return bytes
    if (espera === undefined || espera > ESPERA_MAXIMA || intento === INTENTOS) {
      throw new ErrorDeDescarga(`No se pudo descargar ${que} de ${new URL(url).origin}: ${falla}. Repita la orden.`)
    }
    await dormir(espera, signal)
  }
}

/** The bytes, or why there are none and in how many milliseconds there may be some; never, if it doesn't say. */
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
