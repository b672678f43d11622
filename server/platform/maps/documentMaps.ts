import type { PreparedImage } from '../images/prepareImage.ts'
import type { Log } from '../log.ts'
import { composeMap } from './composeMap.ts'
import type { Point } from './point.ts'

/**
 * Time limit in milliseconds for all tiles of a map together. Without a map by then, the document is made without it.
 */
const DRAW_DEADLINE_MS = 3_000
/** Pause in milliseconds before tiles are requested again after the time limit was exceeded. */
const PAUSE_MS = 600_000

/**
 * Maps for documents, from one source of tiles. A source that is too slow is not asked again for ten minutes, so that
 * it delays one document and not each of them.
 */
export class DocumentMaps {
  readonly #url: string
  readonly #clock: () => Date
  readonly #log: Pick<Log, 'warn'>
  /** Instant until which the source is not asked, in milliseconds. */
  #pausedUntil = 0

  /** @param url URL template of a tile, as {@link composeMap} takes it */
  constructor(url: string, { clock, log }: { clock: () => Date; log: Pick<Log, 'warn'> }) {
    this.#url = url
    this.#clock = clock
    this.#log = log
  }

  /** Returns a map with the point in its centre; null if the source has no map there, or does not answer in time. */
  async draw(point: Point): Promise<PreparedImage | null> {
    if (this.#clock().getTime() < this.#pausedUntil) return null
    const signal = AbortSignal.timeout(DRAW_DEADLINE_MS)
    const map = await composeMap(this.#url, point, signal)
    if (!map && signal.aborted) {
      this.#pausedUntil = this.#clock().getTime() + PAUSE_MS
      this.#log.warn(
        { deadlineMs: DRAW_DEADLINE_MS, pauseMs: PAUSE_MS },
        'map tiles too slow; documents are made without maps',
      )
    }
    return map
  }
}
