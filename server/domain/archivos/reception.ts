import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createTurns, type Turns } from '../../api/http/turns.ts'
import { unavailable } from '../../platform/errors.ts'
import { orUnavailable } from '../../platform/files/store.ts'

/**
 * Receives uploads into temporary files, where they wait for decoding. Decoding a picture of 40 megapixels takes up to
 * 250 MB, so a process decodes one picture at a time.
 */
export interface Reception {
  /**
   * Writes the body to a temporary file, passes its path to `hacer`, and then deletes the file.
   * `hacer` runs memory-intensive work through `enTurno`. Calls to other systems (the storage) stay outside `enTurno`,
   * because one hanging call there would block all uploads.
   * @throws Problema 503 if too many uploads are in progress or the disk fails
   */
  recibir<T>(contenido: Readable, hacer: (ruta: string, enTurno: Turns) => Promise<T>): Promise<T>
}

/** Maximum number of concurrent uploads per process. Further uploads get a 503. */
const EN_CURSO = 32
/** Number of pictures decoded at once. A picture of 12 megapixels takes 0.2 s. */
const A_LA_VEZ = 1
/**
 * Age in milliseconds at which a temporary file counts as left behind by a terminated process. Also the interval
 * between two cleanups of the folder.
 */
const VIEJO = 3_600_000

/** Creates the receiver of uploads. It creates the folder, and deletes the files that crashed processes left there. */
export function createReception(carpeta: string): Reception {
  const turno = createTurns(A_LA_VEZ)
  let enCurso = 0
  let preparada: Promise<void> | undefined
  let barrida = 0
  return {
    async recibir(contenido, hacer) {
      if (enCurso >= EN_CURSO)
        throw unavailable('Hay demasiadas subidas a la vez. Repita la solicitud en unos segundos.')
      enCurso++
      const ruta = join(carpeta, randomUUID())
      try {
        await orUnavailable(async () => {
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
