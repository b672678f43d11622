import { setTimeout as sleep } from 'node:timers/promises'
import type { Health } from '../../domain/deps.ts'
import type { Log } from '../../platform/log.ts'
import { ApiProcess } from './apiProcess.ts'
import type { ChildQuestions, MetricValues } from './messages.ts'
import { sumMetrics } from './sums.ts'

/** Pause before a new process replaces one that exited by itself, in milliseconds. */
const RESTART_PAUSE_MS = 1_000

/** Group of API processes on one port: as many as configured, and one more during a rolling restart. */
export class ProcessFamily {
  readonly #count: number
  readonly #exemplars: boolean
  readonly #log: Log
  readonly #console: (line: string) => void
  readonly #serving = new Set<ApiProcess>()
  readonly #starting = new Set<ApiProcess>()
  /** Sums of the counters of processes that have ended, because a counter must not decrease. */
  #endedCounts: MetricValues = []
  #isEnding = false
  #renewal: Promise<void> | undefined
  #renewAgain = false

  /**
   * @param exemplars true if the metrics name traces
   * @param console receives the console lines of the first process
   */
  constructor(count: number, exemplars: boolean, log: Log, console: (line: string) => void) {
    this.#count = count
    this.#exemplars = exemplars
    this.#log = log
    this.#console = console
  }

  /**
   * Starts the first process alone, because it may have to migrate or to report a fault. Then starts the other
   * processes at once.
   * @throws StartError if a process ends before it serves
   */
  async spawn(): Promise<void> {
    await this.#startOne(this.#console)
    await Promise.all(Array.from({ length: this.#count - 1 }, () => this.#startOne()))
  }

  /**
   * Replaces each process by a new one, one after another: an old process stops once a new one serves. If a new process
   * does not start, the remaining old processes stay. A call during a restart causes one more restart afterwards.
   */
  async renew(): Promise<void> {
    if (this.#renewal) {
      this.#renewAgain = true
      return this.#renewal
    }
    do {
      this.#renewAgain = false
      this.#renewal = this.#renew()
      await this.#renewal
      this.#renewal = undefined
    } while (this.#renewAgain)
  }

  async #renew(): Promise<void> {
    try {
      for (const oldProcess of [...this.#serving]) {
        await this.#startOne()
        await oldProcess.dismiss()
      }
      this.#log.info({ processes: this.#serving.size }, 'rolling restart finished')
    } catch (err) {
      if (!this.#isEnding) this.#log.error({ err, processes: this.#serving.size }, 'rolling restart failed')
    }
  }

  async terminate(): Promise<void> {
    this.#isEnding = true
    await Promise.all([...this.#starting, ...this.#serving].map((apiProcess) => apiProcess.dismiss()))
  }

  /** Metrics of all processes together, including processes that have ended, in the exposition format. */
  async expose(): Promise<string> {
    const values = await this.#askAll('metrics')
    return (await sumMetrics([this.#endedCounts, ...values], this.#exemplars)).metrics()
  }

  /** Health of all processes together. Each value is true only if every expected process reports true. */
  async health(): Promise<Health> {
    const todas = await this.#askAll('health')
    const every = (part: keyof Health) => todas.length >= this.#count && todas.every((health) => health[part])
    return {
      ok: every('ok'),
      base_de_datos: every('base_de_datos'),
      escritura: every('escritura'),
      cola: every('cola'),
      migraciones: every('migraciones'),
    }
  }

  async #askAll<Topic extends keyof ChildQuestions>(sobre: Topic): Promise<ChildQuestions[Topic][]> {
    const answers = await Promise.all([...this.#serving].map((apiProcess) => apiProcess.ask(sobre)))
    return answers.filter((response) => response !== undefined)
  }

  /** Starts one more process, and waits until it serves. */
  async #startOne(console: (line: string) => void = () => {}): Promise<void> {
    if (this.#isEnding) throw new Error('API processes are stopping')
    const apiProcess = new ApiProcess(console)
    this.#starting.add(apiProcess)
    try {
      await apiProcess.serving
    } finally {
      this.#starting.delete(apiProcess)
    }
    this.#serving.add(apiProcess)
    void apiProcess.end.then(() => this.#onExit(apiProcess))
  }

  async #onExit(apiProcess: ApiProcess): Promise<void> {
    this.#serving.delete(apiProcess)
    const sums = await sumMetrics([this.#endedCounts, apiProcess.reported.filter(isCumulative)], this.#exemplars)
    this.#endedCounts = await sums.getMetricsAsJSON()
    if (apiProcess.dismissed) return
    this.#log.error({ pid: apiProcess.pid }, 'API process exited unexpectedly')
    while (!this.#isEnding && this.#serving.size + this.#starting.size < this.#count) {
      await sleep(RESTART_PAUSE_MS)
      await this.#startOne().catch((err: unknown) => this.#isEnding || this.#log.error({ err }, 'process not replaced'))
    }
  }
}

/** Selects counters and histograms. A gauge counts only while its process lives. */
const isCumulative = ({ type }: MetricValues[number]) => String(type) === 'counter' || String(type) === 'histogram'
