import { processTimers, type Timers } from '../../platform/time/timers.ts'

/**
 * Rest after a run that left work behind, in multiples of the run's time. The work therefore uses one connection for a
 * quarter of the time at most.
 */
const REST_FACTOR = 3

/**
 * Runs a function repeatedly, never twice at once. While there is work, runs follow at a fixed interval; without work,
 * the interval grows.
 */
export class Rounds {
  readonly #work: () => Promise<unknown>
  readonly #busyInterval: number
  readonly #calmInterval: number
  readonly #onFailure: (error: unknown) => void
  readonly #timers: Timers
  #cancelNext = () => {}
  #currentRun: Promise<void> | undefined
  #pause: number
  #dueAt = 0
  #hurried = false
  #stopped = false

  /**
   * Starts the first run at once.
   * @param work returns `true` if the run left work behind; the next run then starts after `REST_FACTOR` times the time
   * of this run, if that is sooner
   * @param busyInterval milliseconds from the end of a run to the next while there is work
   * @param calmInterval the longest such interval while there is no work, in milliseconds
   */
  constructor(
    work: () => Promise<unknown>,
    { busyInterval, calmInterval = busyInterval }: { busyInterval: number; calmInterval?: number },
    onFailure: (error: unknown) => void,
    timers: Timers = processTimers,
  ) {
    this.#work = work
    this.#busyInterval = busyInterval
    this.#calmInterval = calmInterval
    this.#onFailure = onFailure
    this.#timers = timers
    this.#pause = busyInterval
    this.#run()
  }

  /** Reports that there is work: the next two runs come soon. */
  hurry(): void {
    this.#hurried = true
    this.#pause = this.#busyInterval
    if (!this.#currentRun && this.#dueAt > this.#timers.now() + this.#busyInterval) this.#schedule()
  }

  /** Waits for the current run. No run starts afterwards. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelNext()
    await this.#currentRun
  }

  #run(): void {
    this.#hurried = false
    const startedAt = this.#timers.now()
    this.#currentRun = this.#work()
      .catch(this.#onFailure)
      .then((hasMore) => {
        this.#currentRun = undefined
        if (!this.#hurried) this.#pause = Math.min(2 * this.#pause, this.#calmInterval)
        this.#schedule(
          hasMore === true ? Math.min(this.#pause, REST_FACTOR * (this.#timers.now() - startedAt)) : this.#pause,
        )
      })
  }

  #schedule(pause = this.#pause): void {
    this.#cancelNext()
    if (this.#stopped) return
    this.#dueAt = this.#timers.now() + pause
    this.#cancelNext = this.#timers.after(pause, () => this.#run())
  }
}
