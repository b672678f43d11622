import type { Db } from '../../../data/db.ts'
import type { JobDeps } from '../../deps.ts'
import type { WebhookKey } from '../../records/webhookKey.ts'
import { findDue } from './due.ts'

/** Pause after a pass that found work, in milliseconds. */
const MIN_PAUSE_MS = 500
/** Maximum pause between two passes, in milliseconds. */
const MAX_PAUSE_MS = 5_000
/**
 * Minimum ratio of the pause to the duration of the pass, so that at most a tenth of the time is spent searching. Passes
 * longer than a ninth of {@link MAX_PAUSE_MS} take a larger part of the time, because no pause is longer than that.
 */
const PAUSE_RATIO = 9

/**
 * Searches for endpoints with due deliveries, one endpoint after another. Finds deliveries whose notification was lost,
 * after a crash or a lost signal. Searches less often while it finds nothing, until a caller requests a search.
 */
export class DueSearch {
  readonly #deps: Pick<JobDeps, 'db' | 'clock' | 'timers'>
  readonly #onFound: (keys: readonly WebhookKey[]) => boolean
  readonly #onError: (error: unknown) => void
  #cancel = () => {}
  #searching: Promise<void> | undefined
  #pause = MIN_PAUSE_MS
  /** Time before which no pass begins, even on request, in milliseconds of the process's clock. */
  #earliestPass = 0
  #requested = false
  #closed = false

  /** @param onFound receives the endpoints with due deliveries; returns true if one of them was new to this process */
  constructor(
    deps: Pick<JobDeps, 'db' | 'clock' | 'timers'>,
    onFound: (keys: readonly WebhookKey[]) => boolean,
    onError: (error: unknown) => void,
  ) {
    this.#deps = deps
    this.#onFound = onFound
    this.#onError = onError
  }

  /** Starts a pass as soon as one is allowed. */
  readonly request = (): void => {
    this.#requested = true
    if (!this.#searching) this.#schedule(0)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancel()
    await this.#searching
  }

  #schedule(ms: number): void {
    this.#cancel()
    if (this.#closed) return
    const { timers } = this.#deps
    this.#cancel = timers.after(Math.max(0, ms, this.#earliestPass - timers.now()), () => {
      this.#searching = this.#runPass().finally(() => {
        this.#searching = undefined
        this.#schedule(this.#requested ? 0 : this.#pause)
      })
    })
  }

  async #runPass(): Promise<void> {
    const { now } = this.#deps.timers
    const startedAt = now()
    this.#requested = false
    const hasFound = await this.#searchAll()
    this.#pause = hasFound ? MIN_PAUSE_MS : Math.min(2 * this.#pause, MAX_PAUSE_MS)
    const endedAt = now()
    this.#earliestPass = endedAt + Math.min(MAX_PAUSE_MS, PAUSE_RATIO * (endedAt - startedAt))
  }

  /**
   * Searches all databases that hold merchants' rows (Citus has several), in parallel. An unreachable database does not
   * stop the search of the others.
   */
  async #searchAll(): Promise<boolean> {
    const results = await Promise.allSettled(this.#deps.db.parts().map((part) => this.#searchPart(part)))
    for (const { status, reason } of results as PromiseRejectedResult[])
      if (status === 'rejected') this.#onError(reason)
    return results.some((part) => part.status === 'rejected' || part.value)
  }

  async #searchPart(db: Db): Promise<boolean> {
    let hasFound = false
    let after: WebhookKey | undefined
    do {
      const { claves, ultimo } = await findDue(db, this.#deps.clock(), after)
      if (this.#onFound(claves)) hasFound = true
      after = ultimo
    } while (after && !this.#closed)
    return hasFound
  }
}
