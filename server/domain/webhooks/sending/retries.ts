import { hash } from 'node:crypto'
import type { PgBoss } from 'pg-boss'
import type { JobDeps } from '../../deps.ts'
import type { WebhookKey } from '../../records/webhookKey.ts'
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
  async schedule(keys: readonly WebhookKey[]): Promise<WebhookKey[]> {
    const now = this.#deps.clock()
    const nextDue = await nextDueOf(this.#deps.db, keys, now)
    const later = nextDue.filter(({ en }) => en > now)
    const jobs = later.map(({ comercio_id, modo, webhook, en }) => ({
      id: idOf(`${webhook} ${Math.ceil(en.getTime() / 1_000)}`),
      data: { comercio_id, modo, webhook },
      // The job gets a delay and not a time, because the queue's clock may differ from this process's clock.
      startAfter: Math.ceil((en.getTime() - now.getTime()) / 1_000),
    }))
    if (jobs.length > 0) await this.#boss.insert(RETRY_QUEUE, jobs, { returnId: false })
    for (const { startAfter } of jobs) this.#setTimer(startAfter)
    return nextDue.filter(({ en }) => en <= now)
  }

  close(): void {
    for (const cancel of this.#timersBySecond.values()) cancel()
  }

  /** Sets a timer for a job, unless the second of the job already has a timer. @param s delay of the job, in seconds */
  #setTimer(s: number): void {
    const { timers } = this.#deps
    const second = Math.ceil(timers.now() / 1_000) + s
    if (this.#timersBySecond.has(second)) return
    const record = () => {
      this.#timersBySecond.delete(second)
      this.#deps.wake(RETRY_QUEUE)
    }
    this.#timersBySecond.set(second, timers.after(second * 1_000 - timers.now(), record))
  }
}

/** Returns a UUID derived from a text. */
const idOf = (text: string) => hash('md5', text).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
