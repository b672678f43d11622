import type { PgBoss } from 'pg-boss'
import { translateError } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import type { JobKind } from './job.ts'
import { RecentIds } from './memory.ts'

/** Dependencies of the feeder itself. Each kind of job brings its own. */
export interface FeederDeps {
  log: Log
  reloj: () => Date
  avisarTrabajo: () => unknown
  despertar: (cola: string) => void
  hayTrabajo: () => void
}

/** Maximum rows of one kind of work that a round turns into jobs. */
const LOTE = 1_000
/**
 * Pauses before a round that no call of `notify` asked for, in milliseconds: `RONDA` after a round that found rows, and
 * up to `RONDA_MAXIMA` while rounds find nothing.
 */
const RONDA = 500
const RONDA_MAXIMA = 10_000
/** Time for which a job is not added again after it was added to the queue, in milliseconds. */
const MEMORIA = 5_000
/** Minimum step back of the clock between two rounds, in milliseconds, after which due times are corrected. */
const RETROCESO = 1_000
/** Time without a successful round after which the queue is unhealthy, in milliseconds. */
const SILENCIO = 20_000
/** Longest wait of a stop for a round under way, in milliseconds. */
const PLAZO = 5_000

/**
 * Turns pending rows into jobs, one round after another. A call of `notify` starts a round soon. Otherwise the pause
 * between rounds grows while they find nothing.
 */
export class Feeder<D extends FeederDeps> {
  readonly #boss: PgBoss
  readonly #trabajos: readonly JobKind<D>[]
  readonly #deps: D
  readonly #memoria = new RecentIds(MEMORIA)
  #temporizador: NodeJS.Timeout | undefined
  #inmediata: NodeJS.Immediate | undefined
  #ronda: Promise<void> | undefined
  /** Time at which the next round is due. */
  #cita = Number.POSITIVE_INFINITY
  /** Earliest time at which the next round may start. */
  #libre = 0
  /** Pause between a round and the next one. */
  #pausa = RONDA
  /**
   * Difference between the wall clock and the process's monotonic clock at the last round, in milliseconds. Infinite at
   * first, because the process does not know earlier readings.
   */
  #adelanto = Number.POSITIVE_INFINITY
  /** Time of the last successful round. */
  #buena = performance.now()
  #detenido = false

  constructor(boss: PgBoss, trabajos: readonly JobKind<D>[], deps: D) {
    this.#boss = boss
    this.#trabajos = trabajos
    this.#deps = deps
  }

  readonly notify = (): void => {
    const cuando = performance.now()
    if (cuando >= this.#cita) return
    this.#cita = cuando
    this.#citar()
  }

  /** Reports whether a round has reached database and queue within {@link SILENCIO}. */
  isHealthy(): boolean {
    return performance.now() - this.#buena < SILENCIO
  }

  async stop(): Promise<void> {
    this.#detenido = true
    clearTimeout(this.#temporizador)
    clearImmediate(this.#inmediata)
    // A round that hangs on a dead connection must not keep the process alive. The next process finds the rows again.
    await Promise.race([this.#ronda, new Promise((resolve) => setTimeout(resolve, PLAZO).unref())])
  }

  #citar(): void {
    clearTimeout(this.#temporizador)
    clearImmediate(this.#inmediata)
    if (this.#ronda || this.#detenido) return
    const falta = Math.max(this.#cita, this.#libre) - performance.now()
    // `setImmediate` starts the round at once. Even the shortest timer would add a millisecond to each delivery.
    if (falta <= 0) this.#inmediata = setImmediate(() => this.#girar())
    else this.#temporizador = setTimeout(() => this.#girar(), falta)
  }

  #girar(): void {
    const inicio = performance.now()
    this.#cita = inicio + this.#pausa
    this.#memoria.forgetOld(inicio)
    this.#ronda = this.#alimentarTodo().finally(() => {
      this.#ronda = undefined
      // Rounds take at most half of the time, because the database has other work, however often `notify` is called.
      this.#libre = 2 * performance.now() - inicio
      this.#citar()
    })
  }

  async #alimentarTodo(): Promise<void> {
    try {
      await this.#cuidarReloj()
      const alimentados = await Promise.all(this.#trabajos.map((trabajo) => this.#alimentar(trabajo)))
      this.#buena = performance.now()
      this.#pausa = alimentados.some((cuantos) => cuantos > 0) ? RONDA : Math.min(2 * this.#pausa, RONDA_MAXIMA)
    } catch (err) {
      // The jobs of the failed round may not have reached the queue, so they must be added again.
      this.#memoria.clear()
      this.#pausa = RONDA
      this.#deps.log[translateError(err).codigo === 'no_disponible' ? 'warn' : 'error']({ err }, 'job feeder failed')
    }
  }

  /**
   * Corrects rows whose due time was set while the clock was ahead. Runs at the first round, and whenever the clock has
   * stepped back.
   */
  async #cuidarReloj(): Promise<void> {
    const adelanto = this.#deps.reloj().getTime() - performance.now()
    if (adelanto < this.#adelanto - RETROCESO) {
      await Promise.all(this.#trabajos.map(({ adelantar }) => adelantar?.(this.#deps)))
      this.#deps.avisarTrabajo()
    }
    this.#adelanto = adelanto
  }

  /**
   * Turns pending rows of one kind of work into jobs.
   * @returns number of jobs made
   */
  async #alimentar({ cola, pendientes }: JobKind<D>): Promise<number> {
    const nuevos = ((await pendientes?.(this.#deps, LOTE)) ?? []).filter(({ id }) => !this.#memoria.has(id!))
    if (nuevos.length === 0) return 0
    this.#memoria.add(
      nuevos.map(({ id }) => id!),
      performance.now(),
    )
    await this.#boss.insert(cola, nuevos, { returnId: false })
    this.#deps.despertar(cola)
    this.#deps.hayTrabajo()
    return nuevos.length
  }
}
