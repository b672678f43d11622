import { isDistributed } from '../../../data/db.ts'
import { groupByPart } from '../../../data/partQueries.ts'
import { translateError } from '../../../platform/errors.ts'
import type { Timers } from '../../../platform/time/timers.ts'
import { sleep } from '../../../platform/time/timers.ts'
import {
  MAX_CONCURRENT_SETTLEMENTS,
  MAX_PENDING_RESULTS,
  MAX_RESULTS_PER_SETTLEMENT,
  SETTLEMENT_DELAY_MS,
} from './limits.ts'
import type { AttemptResult, SettlementDeps } from './settleAttempts.ts'
import { settleAttempts } from './settleAttempts.ts'
import { settleSuccesses } from './settleSuccesses.ts'

/** Results that are settled by the same statement. */
interface ResultQueue {
  waiting: AttemptResult[]
  settle: (group: readonly AttemptResult[]) => Promise<void>
}

/**
 * Settles results in groups. One statement over arrays settles first attempts that succeed at a healthy endpoint. A
 * transaction settles all other attempts and updates the health of their endpoints. A settlement that fails is repeated
 * until it succeeds. Otherwise a process would send the delivery again.
 */
export class Settlement {
  readonly #deps: SettlementDeps & { timers: Timers }
  readonly #onSettled: (group: readonly AttemptResult[], healthMayDiffer: boolean) => void
  readonly #successes: ResultQueue = { waiting: [], settle: (group) => this.#settleSuccesses(group) }
  readonly #others: ResultQueue = { waiting: [], settle: (group) => settleAttempts(this.#deps, group) }
  /** Cancels the timer of the next group; undefined if no result waits for it. */
  #cancelGathering: (() => void) | undefined
  #groups = 0
  #settling = 0
  /** Number of results in settlement that wait for an unreachable machine, while other machines are reachable. */
  #setAside = 0
  #abandoned = false

  /** @param onSettled receives each settled group, and true if the state of its endpoints may have changed */
  constructor(
    deps: SettlementDeps & { timers: Timers },
    onSettled: (group: readonly AttemptResult[], healthMayDiffer: boolean) => void,
  ) {
    this.#deps = deps
    this.#onSettled = onSettled
  }

  /** Number of results that are not settled yet. */
  get pending(): number {
    return this.#successes.waiting.length + this.#others.waiting.length + this.#settling
  }

  /** True if new exchanges may begin. Results that wait for an unreachable machine do not count. */
  get hasRoom(): boolean {
    return this.pending - this.#setAside < MAX_PENDING_RESULTS
  }

  /**
   * Adds a result to the next group.
   * @param isHealthy true if the endpoint is known to be healthy; then a successful first attempt changes nothing about it
   */
  add(result: AttemptResult, isHealthy: boolean): void {
    const { aviso, respuesta } = result
    const resultClass = isHealthy && respuesta.error === null && aviso.intentos === 0 ? this.#successes : this.#others
    if (resultClass.waiting.push(result) >= MAX_RESULTS_PER_SETTLEMENT) this.flush()
    else this.#cancelGathering ??= this.#deps.timers.after(SETTLEMENT_DELAY_MS, () => this.flush())
  }

  /** Settles the results that wait for a group, as far as {@link MAX_CONCURRENT_SETTLEMENTS} allows. */
  flush(): void {
    this.#cancelGathering?.()
    this.#cancelGathering = undefined
    for (const resultClass of [this.#others, this.#successes])
      while (resultClass.waiting.length > 0 && this.#groups < MAX_CONCURRENT_SETTLEMENTS) {
        const group = resultClass.waiting.splice(0, MAX_RESULTS_PER_SETTLEMENT)
        this.#settling += group.length
        this.#groups++
        void this.#settle(resultClass, group)
      }
  }

  /** Stops the repeats of settlements that fail. */
  abandon(): void {
    this.#abandoned = true
    this.#cancelGathering?.()
  }

  /**
   * Settles a group, separately in each database that holds rows of its merchants (Citus has several). Results whose
   * database fails are repeated later and do not delay other groups.
   */
  async #settle(resultClass: ResultQueue, group: readonly AttemptResult[]): Promise<void> {
    const shards = await groupByPart(this.#deps.noWaitDb, group, ({ aviso }) => aviso.comercio_id)
    await Promise.all(
      shards.map(async ([, part]) => {
        const startedAt = this.#deps.timers.now()
        if (await this.#trySettle(resultClass, part)) this.#finish(resultClass, part, startedAt)
        else void this.#retryUntilSettled(resultClass, part, startedAt)
      }),
    )
    this.#groups--
    this.flush()
  }

  async #retryUntilSettled(resultClass: ResultQueue, part: readonly AttemptResult[], startedAt: number): Promise<void> {
    const setAside = isDistributed(this.#deps.noWaitDb) ? part.length : 0
    this.#setAside += setAside
    let delay = 100
    do {
      await sleep(this.#deps.timers, delay)
      delay = Math.min(2 * delay, 5_000)
    } while (!this.#abandoned && !(await this.#trySettle(resultClass, part)))
    this.#setAside -= setAside
    this.#finish(resultClass, part, startedAt)
  }

  async #trySettle(resultClass: ResultQueue, part: readonly AttemptResult[]): Promise<boolean> {
    try {
      await resultClass.settle(part)
      return true
    } catch (err) {
      const level = translateError(err).codigo === 'no_disponible' ? 'warn' : 'error'
      this.#deps.log[level]({ err, avisos: part.length }, 'webhook settlement failed')
      return false
    }
  }

  #finish(resultClass: ResultQueue, part: readonly AttemptResult[], startedAt: number): void {
    const successCount = part.filter(({ respuesta }) => respuesta.error === null).length
    const ms = Math.round(this.#deps.timers.now() - startedAt)
    this.#deps.log.info({ cola: 'webhook_avisos', intentos: part.length, delivered: successCount, ms }, 'job')
    this.#settling -= part.length
    this.#onSettled(part, resultClass === this.#others)
  }

  async #settleSuccesses(group: readonly AttemptResult[]): Promise<void> {
    const { noWaitDb, clock } = this.#deps
    const unsettled = await settleSuccesses(noWaitDb, group, clock())
    if (unsettled.length > 0) await settleAttempts(this.#deps, unsettled)
  }
}
