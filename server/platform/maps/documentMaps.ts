import type { PreparedImage } from '../images/prepareImage.ts'
import type { Log } from '../log.ts'
import { composeMap } from './composeMap.ts'
import type { Point } from './point.ts'

/**
 * Time limit in milliseconds for all tiles of a map together. Without a map by then, the document is made without it.
 */
const PLAZO = 3_000
/** Pause in milliseconds before tiles are requested again after the time limit was exceeded. */
const PAUSA = 600_000

/**
 * Maps for documents, from one source of tiles. A source that is too slow is not asked again for ten minutes, so that
 * it delays one document and not each of them.
 */
export class DocumentMaps {
  readonly #url: string
  readonly #reloj: () => Date
  readonly #log: Pick<Log, 'warn'>
  /** Instant until which the source is not asked, in milliseconds. */
  #pausadaHasta = 0

  /** @param url URL template of a tile, as {@link composeMap} takes it */
  constructor(url: string, { reloj, log }: { reloj: () => Date; log: Pick<Log, 'warn'> }) {
    this.#url = url
    this.#reloj = reloj
    this.#log = log
  }

  /** Returns a map with the point in its centre; null if the source has no map there, or does not answer in time. */
  async draw(punto: Point): Promise<PreparedImage | null> {
    if (this.#reloj().getTime() < this.#pausadaHasta) return null
    const senal = AbortSignal.timeout(PLAZO)
    const mapa = await composeMap(this.#url, punto, senal)
    if (!mapa && senal.aborted) {
      this.#pausadaHasta = this.#reloj().getTime() + PAUSA
      this.#log.warn({ plazo: PLAZO, pausa: PAUSA }, 'map tiles too slow; documents are made without maps')
    }
    return mapa
  }
}
