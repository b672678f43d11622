import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { noDisponible } from '../errores.ts'
import { crearTurnos, type Turnos } from '../http/turnos.ts'
import { oNoDisponible } from './almacen.ts'

/**
 * Receives uploads onto the disk, where they wait for their turn to be decoded: a picture of 40 megapixels takes up
 * to 250 MB meanwhile, so one is decoded at a time.
 */
export interface Recepcion {
  /**
   * Takes the bytes into a file and hands it over; afterwards it is gone. What takes memory waits for its turn; what waits
   * for others (the storage) should not, or one that hangs holds everybody up.
   */
  recibir<T>(contenido: Readable, hacer: (ruta: string, enTurno: Turnos) => Promise<T>): Promise<T>
}

/** Uploads under way in this process; more are told to come back. */
const EN_CURSO = 32
/** Pictures decoded at once: 12 megapixels take a fifth of a second. */
const A_LA_VEZ = 1
/** What is older was left by a process that is no more, in milliseconds. */
const VIEJO = 3_600_000

/** Creates what receives uploads, into a folder that it makes and clears of what crashes left. */
export function crearRecepcion(carpeta: string): Recepcion {
  const turno = crearTurnos(A_LA_VEZ)
  let enCurso = 0
  let preparada: Promise<void> | undefined
  let barrida = 0
  return {
    async recibir(contenido, hacer) {
      if (enCurso >= EN_CURSO)
        throw noDisponible('Hay demasiadas subidas a la vez. Repita la solicitud en unos segundos.')
      enCurso++
      const ruta = join(carpeta, randomUUID())
      try {
        await oNoDisponible(async () => {
          if (performance.now() - barrida > VIEJO) preparada = undefined
          preparada ??= preparar(carpeta).then(() => {
            barrida = performance.now()
          })
          await preparada.catch((error) => {
            preparada = undefined
            throw error
          })
          await pipeline(contenido, createWriteStream(ruta, { mode: 0o600 }))
        })
        return await hacer(ruta, turno)
      } finally {
        enCurso--
        await rm(ruta, { force: true }).catch(() => {})
      }
    },
  }
}

async function preparar(carpeta: string) {
  await mkdir(carpeta, { recursive: true, mode: 0o700 })
  for (const nombre of await readdir(carpeta)) {
    const { mtimeMs } = await stat(join(carpeta, nombre)).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (mtimeMs < Date.now() - VIEJO) await rm(join(carpeta, nombre), { force: true })
  }
}
