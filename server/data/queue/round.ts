/**
 * Rest after a run that left work behind, in multiples of the run's time. The work therefore uses one connection for a
 * quarter of the time at most.
 */
const REST_FACTOR = 3

/** Clock and timer of {@link Rounds}, so that a test can replace them. */
export interface RoundTimers {
  setTimeout(work: () => void, ms: number): NodeJS.Timeout
  clearTimeout(timer: NodeJS.Timeout | undefined): void
  /** Milliseconds since a fixed instant. */
  now(): number
}

const DE_NODE: RoundTimers = { setTimeout, clearTimeout, now: () => performance.now() }

/**
 * Runs a function repeatedly, never twice at once. While there is work, runs follow at a fixed interval; without work,
 * the interval grows.
 */
export class Rounds {
  readonly #work: () => Promise<unknown>
  readonly #busyInterval: number
  readonly #calmInterval: number
  readonly #onFailure: (error: unknown) => void
  readonly #timers: RoundTimers
  #timer: NodeJS.Timeout | undefined
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
    timers = DE_NODE,
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
    this.#timers.clearTimeout(this.#timer)
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
    this.#timers.clearTimeout(this.#timer)
    if (this.#stopped) return
    this.#dueAt = this.#timers.now() + pause
    this.#timer = this.#timers.setTimeout(() => this.#run(), pause)
  }
}
