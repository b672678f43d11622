/**
 * Rest after a run that left work behind, in multiples of the run's time. The work therefore uses one connection for a
 * quarter of the time at most.
 */
const DESCANSO = 3

/** Clock and timer of {@link Rounds}, so that a test can replace them. */
export interface Timers {
  setTimeout(hacer: () => void, ms: number): NodeJS.Timeout
  clearTimeout(temporizador: NodeJS.Timeout | undefined): void
  /** Milliseconds since a fixed instant. */
  now(): number
}

const DE_NODE: Timers = { setTimeout, clearTimeout, now: () => performance.now() }

/**
 * Runs a function repeatedly, never twice at once. While there is work, runs follow at a fixed interval; without work,
 * the interval grows.
 */
export class Rounds {
  readonly #hacer: () => Promise<unknown>
  readonly #prisa: number
  readonly #calma: number
  readonly #alFallar: (error: unknown) => void
  readonly #timers: Timers
  #temporizador: NodeJS.Timeout | undefined
  #enMarcha: Promise<void> | undefined
  #pausa: number
  #cita = 0
  #apurada = false
  #detenida = false

  /**
   * Starts the first run at once.
   * @param hacer returns `true` if the run left work behind; the next run then starts after `DESCANSO` times the time
   * of this run, if that is sooner
   * @param prisa milliseconds from the end of a run to the next while there is work
   * @param calma the longest such interval while there is no work, in milliseconds
   */
  constructor(
    hacer: () => Promise<unknown>,
    { prisa, calma = prisa }: { prisa: number; calma?: number },
    alFallar: (error: unknown) => void,
    timers = DE_NODE,
  ) {
    this.#hacer = hacer
    this.#prisa = prisa
    this.#calma = calma
    this.#alFallar = alFallar
    this.#timers = timers
    this.#pausa = prisa
    this.#dar()
  }

  /** Reports that there is work: the next two runs come soon. */
  hurry(): void {
    this.#apurada = true
    this.#pausa = this.#prisa
    if (!this.#enMarcha && this.#cita > this.#timers.now() + this.#prisa) this.#citar()
  }

  /** Waits for the current run. No run starts afterwards. */
  async stop(): Promise<void> {
    this.#detenida = true
    this.#timers.clearTimeout(this.#temporizador)
    await this.#enMarcha
  }

  #dar(): void {
    this.#apurada = false
    const inicio = this.#timers.now()
    this.#enMarcha = this.#hacer()
      .catch(this.#alFallar)
      .then((hayMas) => {
        this.#enMarcha = undefined
        if (!this.#apurada) this.#pausa = Math.min(2 * this.#pausa, this.#calma)
        this.#citar(hayMas === true ? Math.min(this.#pausa, DESCANSO * (this.#timers.now() - inicio)) : this.#pausa)
      })
  }

  #citar(pausa = this.#pausa): void {
    this.#timers.clearTimeout(this.#temporizador)
    if (this.#detenida) return
    this.#cita = this.#timers.now() + pausa
    this.#temporizador = this.#timers.setTimeout(() => this.#dar(), pausa)
  }
}
