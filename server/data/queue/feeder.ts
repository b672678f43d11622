import type { PgBoss } from 'pg-boss'
import { translateError } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import type { JobKind } from './job.ts'
import { RecentIds } from './memory.ts'

/** Dependencies of the feeder itself. Each kind of job brings its own. */
export interface FeederDeps {
  log: Log
  clock: () => Date
  notifyJobs: () => unknown
  wake: (queue: string) => void
  announceWork: () => void
}

/** Maximum rows of one kind of work that a round turns into jobs. */
const MAX_ROWS_PER_ROUND = 1_000
/**
 * Pauses before a round that no call of `notify` asked for, in milliseconds: `ROUND_PAUSE_MS` after a round that found
 * rows, and up to `MAX_ROUND_PAUSE_MS` while rounds find nothing.
 */
const ROUND_PAUSE_MS = 500
const MAX_ROUND_PAUSE_MS = 10_000
/** Time for which a job is not added again after it was added to the queue, in milliseconds. */
const MEMORY_MS = 5_000
/** Minimum step back of the clock between two rounds, in milliseconds, after which due times are corrected. */
const CLOCK_STEP_BACK_MS = 1_000
/** Time without a successful round after which the queue is unhealthy, in milliseconds. */
const UNHEALTHY_SILENCE_MS = 20_000
/** Longest wait of a stop for a round under way, in milliseconds. */
const STOP_DEADLINE_MS = 5_000

/**
 * Turns pending rows into jobs, one round after another. A call of `notify` starts a round soon. Otherwise the pause
 * between rounds grows while they find nothing.
 */
export class Feeder<D extends FeederDeps> {
  readonly #boss: PgBoss
  readonly #jobs: readonly JobKind<D>[]
  readonly #deps: D
  readonly #recentIds = new RecentIds(MEMORY_MS)
  #timer: NodeJS.Timeout | undefined
  #immediate: NodeJS.Immediate | undefined
  #round: Promise<void> | undefined
  /** Time at which the next round is due. */
  #dueAt = Number.POSITIVE_INFINITY
  /** Earliest time at which the next round may start. */
  #earliestStart = 0
  /** Pause between a round and the next one. */
  #pause = ROUND_PAUSE_MS
  /**
   * Difference between the wall clock and the process's monotonic clock at the last round, in milliseconds. Infinite at
   * first, because the process does not know earlier readings.
   */
  #clockLead = Number.POSITIVE_INFINITY
  /** Time of the last successful round. */
  #lastGoodRound = performance.now()
  #stopped = false

  constructor(boss: PgBoss, jobs: readonly JobKind<D>[], deps: D) {
    this.#boss = boss
    this.#jobs = jobs
    this.#deps = deps
  }

  readonly notify = (): void => {
    const requestedAt = performance.now()
    if (requestedAt >= this.#dueAt) return
    this.#dueAt = requestedAt
    this.#schedule()
  }

  /** Reports whether a round has reached database and queue within {@link UNHEALTHY_SILENCE_MS}. */
  isHealthy(): boolean {
    return performance.now() - this.#lastGoodRound < UNHEALTHY_SILENCE_MS
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    clearImmediate(this.#immediate)
    // A round that hangs on a dead connection must not keep the process alive. The next process finds the rows again.
    await Promise.race([this.#round, new Promise((resolve) => setTimeout(resolve, STOP_DEADLINE_MS).unref())])
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#immediate)
    if (this.#round || this.#stopped) return
    const remainingMs = Math.max(this.#dueAt, this.#earliestStart) - performance.now()
    // `setImmediate` starts the round at once. Even the shortest timer would add a millisecond to each delivery.
    if (remainingMs <= 0) this.#immediate = setImmediate(() => this.#startRound())
    else this.#timer = setTimeout(() => this.#startRound(), remainingMs)
  }

  #startRound(): void {
    const startedAt = performance.now()
    this.#dueAt = startedAt + this.#pause
    this.#recentIds.forgetOld(startedAt)
    this.#round = this.#feedAll().finally(() => {
      this.#round = undefined
      // Rounds take at most half of the time, because the database has other work, however often `notify` is called.
      this.#earliestStart = 2 * performance.now() - startedAt
      this.#schedule()
    })
  }

  async #feedAll(): Promise<void> {
    try {
      await this.#checkClock()
      const fedCounts = await Promise.all(this.#jobs.map((job) => this.#feed(job)))
      this.#lastGoodRound = performance.now()
      this.#pause = fedCounts.some((count) => count > 0)
        ? ROUND_PAUSE_MS
        : Math.min(2 * this.#pause, MAX_ROUND_PAUSE_MS)
    } catch (err) {
      // The jobs of the failed round may not have reached the queue, so they must be added again.
      this.#recentIds.clear()
      this.#pause = ROUND_PAUSE_MS
      this.#deps.log[translateError(err).codigo === 'no_disponible' ? 'warn' : 'error']({ err }, 'job feeder failed')
    }
  }

  /**
   * Corrects rows whose due time was set while the clock was ahead. Runs at the first round, and whenever the clock has
   * stepped back.
   */
  async #checkClock(): Promise<void> {
    const clockLead = this.#deps.clock().getTime() - performance.now()
    if (clockLead < this.#clockLead - CLOCK_STEP_BACK_MS) {
      await Promise.all(this.#jobs.map(({ advance }) => advance?.(this.#deps)))
      this.#deps.notifyJobs()
    }
    this.#clockLead = clockLead
  }

  /**
   * Turns pending rows of one kind of work into jobs.
   * @returns number of jobs made
   */
  async #feed({ cola, pendientes }: JobKind<D>): Promise<number> {
    const newJobs = ((await pendientes?.(this.#deps, MAX_ROWS_PER_ROUND)) ?? []).filter(
      ({ id }) => !this.#recentIds.has(id!),
    )
    if (newJobs.length === 0) return 0
    this.#recentIds.add(
      newJobs.map(({ id }) => id!),
      performance.now(),
    )
    await this.#boss.insert(cola, newJobs, { returnId: false })
    this.#deps.wake(cola)
    this.#deps.announceWork()
    return newJobs.length
  }
}
