import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createTurns, type Turns } from '../../api/http/turns.ts'
import { unavailable } from '../../platform/errors.ts'
import { orUnavailable } from '../../platform/files/store.ts'
import { HOUR_MS } from '../../platform/time/units.ts'

/**
 * Receives uploads into temporary files, where they wait for decoding. Decoding a picture of 40 megapixels takes up to
 * 250 MB, so a process decodes one picture at a time.
 */
export interface Reception {
  /**
   * Writes the body to a temporary file, passes its path to `perform`, and then deletes the file.
   * `perform` runs memory-intensive work through `inTurn`. Calls to other systems (the storage) stay outside `inTurn`,
   * because one hanging call there would block all uploads.
   * @throws Problema 503 if too many uploads are in progress or the disk fails
   */
  receive<T>(content: Readable, perform: (path: string, inTurn: Turns) => Promise<T>): Promise<T>
}

/** Maximum number of concurrent uploads per process. Further uploads get a 503. */
const MAX_IN_PROGRESS = 32
/** Number of pictures decoded at once. A picture of 12 megapixels takes 0.2 s. */
const CONCURRENCY = 1
/**
 * Age in milliseconds at which a temporary file counts as left behind by a terminated process. Also the interval
 * between two cleanups of the folder.
 */
const STALE_MS = HOUR_MS

/** Creates the receiver of uploads. It creates the folder, and deletes the files that crashed processes left there. */
export function createReception(folder: string): Reception {
  const turn = createTurns(CONCURRENCY)
  let inProgress = 0
  let prepared: Promise<void> | undefined
  let sweptAt = 0
  return {
    async receive(content, perform) {
      if (inProgress >= MAX_IN_PROGRESS)
        throw unavailable('Hay demasiadas subidas a la vez. Repita la solicitud en unos segundos.')
      inProgress++
      const path = join(folder, randomUUID())
      try {
        await orUnavailable(async () => {
          if (performance.now() - sweptAt > STALE_MS) prepared = undefined
          prepared ??= prepare(folder).then(() => {
            sweptAt = performance.now()
          })
          await prepared.catch((error) => {
            prepared = undefined
            throw error
          })
          await pipeline(content, createWriteStream(path, { mode: 0o600 }))
        })
        return await perform(path, turn)
      } finally {
        inProgress--
        await rm(path, { force: true }).catch(() => {})
      }
    },
  }
}

async function prepare(folder: string) {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) {
    const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    if (mtimeMs < Date.now() - STALE_MS) await rm(join(folder, name), { force: true })
  }
}
