import type { PgBoss } from 'pg-boss'
import type { DepsDeTrabajo } from '../deps.ts'
import { traducirError } from '../errores.ts'
import { Memoria } from './memoria.ts'
import type { Trabajo } from './trabajo.ts'

/** Rows fed to the queue at a time. */
const LOTE = 1_000
/** How long the feeder waits before it looks by itself, in milliseconds: after it found something, and at most. */
const RONDA = 500
const RONDA_MAXIMA = 10_000
const MEMORIA = 5_000
/** A clock that falls behind by so many milliseconds from one round to the next has stepped back. */
const RETROCESO = 1_000
/** Without a good round for so long, in milliseconds, the queue is not well. */
const SILENCIO = 20_000
/** How long an end waits for a round under way, in milliseconds. */
const PLAZO = 5_000

/**
 * Turns pending rows into jobs, one round after another: soon when somebody asks, or else by itself, the more rarely the
 * longer it found nothing.
 */
export class Alimentador {
  readonly #boss: PgBoss
  readonly #trabajos: readonly Trabajo[]
  readonly #deps: DepsDeTrabajo
  readonly #memoria = new Memoria(MEMORIA)
  #temporizador: NodeJS.Timeout | undefined
  #inmediata: NodeJS.Immediate | undefined
  #ronda: Promise<void> | undefined
  /** When the next round is due. */
  #cita = Number.POSITIVE_INFINITY
  /** Before that, there is none. */
  #libre = 0
  /** How long after a round the next one is due. */
  #pausa = RONDA
  /** By how much the clock was ahead of the process's age, in milliseconds; a process doesn't know what was before it. */
  #adelanto = Number.POSITIVE_INFINITY
  /** When a round last went well. */
  #buena = performance.now()
  #detenido = false

  constructor(boss: PgBoss, trabajos: readonly Trabajo[], deps: DepsDeTrabajo) {
    this.#boss = boss
    this.#trabajos = trabajos
    this.#deps = deps
  }

  readonly avisar = (): void => {
    const cuando = performance.now()
    if (cuando >= this.#cita) return
    this.#cita = cuando
    this.#citar()
  }

  /** Whether it got through to database and queue lately. */
  late(): boolean {
    return performance.now() - this.#buena < SILENCIO
  }

  async detener(): Promise<void> {
    this.#detenido = true
    clearTimeout(this.#temporizador)
    clearImmediate(this.#inmediata)
    // A round that hangs on a dead connection must not keep the process: its rows are found again by the next one.
    await Promise.race([this.#ronda, new Promise((resolve) => setTimeout(resolve, PLAZO).unref())])
  }

  #citar(): void {
    clearTimeout(this.#temporizador)
    clearImmediate(this.#inmediata)
    if (this.#ronda || this.#detenido) return
    const falta = Math.max(this.#cita, this.#libre) - performance.now()
    // The shortest timer takes a millisecond, which is a good part of what a delivery takes.
    if (falta <= 0) this.#inmediata = setImmediate(() => this.#girar())
    else this.#temporizador = setTimeout(() => this.#girar(), falta)
  }

  #girar(): void {
    const inicio = performance.now()
    this.#cita = inicio + this.#pausa
    this.#memoria.olvidarViejos(inicio)
    this.#ronda = this.#alimentarTodo().finally(() => {
      this.#ronda = undefined
      // Half of the time at most: however often somebody asks, the database has others to serve.
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
      // What it was about to feed may not have arrived.
      this.#memoria.olvidarTodo()
      this.#pausa = RONDA
      this.#deps.log[traducirError(err).codigo === 'no_disponible' ? 'warn' : 'error']({ err }, 'feeder')
    }
  }

  /** At first, and whenever the clock stepped back, what waits for the clock that was ahead is brought forward. */
  async #cuidarReloj(): Promise<void> {
    const adelanto = this.#deps.reloj().getTime() - performance.now()
    if (adelanto < this.#adelanto - RETROCESO) {
      await Promise.all(this.#trabajos.map(({ adelantar }) => adelantar?.(this.#deps)))
      this.#deps.avisarTrabajo()
    }
    this.#adelanto = adelanto
  }

  /** @returns how many jobs there were to make */
  async #alimentar({ cola, pendientes }: Trabajo): Promise<number> {
    const nuevos = ((await pendientes?.(this.#deps, LOTE)) ?? []).filter(({ id }) => !this.#memoria.tiene(id!))
    if (nuevos.length === 0) return 0
    this.#memoria.anotar(
      nuevos.map(({ id }) => id!),
      performance.now(),
    )
    await this.#boss.insert(cola, nuevos, { returnId: false })
    this.#deps.despertar(cola)
    this.#deps.hayTrabajo()
    return nuevos.length
  }
}
