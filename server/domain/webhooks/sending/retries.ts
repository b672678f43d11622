import { hash } from 'node:crypto'
import type { PgBoss } from 'pg-boss'
import type { JobDeps } from '../../deps.ts'
import type { ClaveDeWebhook } from '../../records/webhookKey.ts'
import { nextDueOf } from './due.ts'

/** Queue of retries. A job asks for an endpoint when the endpoint's next delivery is due. */
export const RETRY_QUEUE = 'reintentos'

type RetryDeps = Pick<JobDeps, 'db' | 'clock' | 'timers' | 'wake'>

/** Schedules endpoints for the time when their next delivery may be sent. */
export class Retries {
  readonly #boss: PgBoss
  readonly #deps: RetryDeps
  /**
   * Cancellations of timers, by second of the process's clock. Each timer wakes the queue's worker, which by itself
   * polls rarely.
   */
  readonly #timersBySecond = new Map<number, () => void>()

  constructor(boss: PgBoss, deps: RetryDeps) {
    this.#boss = boss
    this.#deps = deps
  }

  /**
   * Creates the jobs. The id of a job is derived from its endpoint and its second, so that any number of failures makes
   * one job.
   * @returns the endpoints that may be sent to now
   */
  async schedule(claves: readonly ClaveDeWebhook[]): Promise<ClaveDeWebhook[]> {
    const ahora = this.#deps.clock()
    const nextDue = await nextDueOf(this.#deps.db, claves, ahora)
    const later = nextDue.filter(({ en }) => en > ahora)
    const trabajos = later.map(({ comercio_id, modo, webhook, en }) => ({
      id: idDe(`${webhook} ${Math.ceil(en.getTime() / 1_000)}`),
      data: { comercio_id, modo, webhook },
      // The job gets a delay and not a time, because the queue's clock may differ from this process's clock.
      startAfter: Math.ceil((en.getTime() - ahora.getTime()) / 1_000),
    }))
    if (trabajos.length > 0) await this.#boss.insert(RETRY_QUEUE, trabajos, { returnId: false })
    for (const { startAfter } of trabajos) this.#setTimer(startAfter)
    return nextDue.filter(({ en }) => en <= ahora)
  }

  close(): void {
    for (const cancel of this.#timersBySecond.values()) cancel()
  }

  /** Sets a timer for a job, unless the second of the job already has a timer. @param s delay of the job, in seconds */
  #setTimer(s: number): void {
    const { timers } = this.#deps
    const segundo = Math.ceil(timers.now() / 1_000) + s
    if (this.#timersBySecond.has(segundo)) return
    const dar = () => {
      this.#timersBySecond.delete(segundo)
      this.#deps.wake(RETRY_QUEUE)
    }
    this.#timersBySecond.set(segundo, timers.after(segundo * 1_000 - timers.now(), dar))
  }
}

/** Returns a UUID derived from a text. */
const idDe = (texto: string) => hash('md5', texto).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
