/**
 * Rest after a run that left work behind, in multiples of the run's time. The work therefore uses one connection for a
 * quarter of the time at most.
 */
const DESCANSO = 3

/**
 * Runs a function again and again, never twice at once. Runs follow each other at a fixed interval while there is work,
 * and more and more rarely while there is none.
 */
export class Rounds {
  readonly #hacer: () => Promise<unknown>
  readonly #prisa: number
  readonly #calma: number
  readonly #alFallar: (error: unknown) => void
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
  ) {
    this.#hacer = hacer
    this.#prisa = prisa
    this.#calma = calma
    this.#alFallar = alFallar
    this.#pausa = prisa
    this.#dar()
  }

  /** Reports that there is work: the next two runs come soon. */
  hurry(): void {
    this.#apurada = true
    this.#pausa = this.#prisa
    if (!this.#enMarcha && this.#cita > performance.now() + this.#prisa) this.#citar()
  }

  /** Waits for the run under way; no run starts afterwards. */
  async stop(): Promise<void> {
    this.#detenida = true
    clearTimeout(this.#temporizador)
    await this.#enMarcha
  }

  #dar(): void {
    this.#apurada = false
    const inicio = performance.now()
    this.#enMarcha = this.#hacer()
      .catch(this.#alFallar)
      .then((hayMas) => {
        this.#enMarcha = undefined
        if (!this.#apurada) this.#pausa = Math.min(2 * this.#pausa, this.#calma)
        this.#citar(hayMas === true ? Math.min(this.#pausa, DESCANSO * (performance.now() - inicio)) : this.#pausa)
      })
  }

  #citar(pausa = this.#pausa): void {
    clearTimeout(this.#temporizador)
    if (this.#detenida) return
    this.#cita = performance.now() + pausa
    this.#temporizador = setTimeout(() => this.#dar(), pausa)
  }
}
