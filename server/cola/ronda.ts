/** Work that has more behind it takes a fourth of one connection at most. */
const DESCANSO = 3

/**
 * Does something again and again, never twice at once: every so often while there is work, and ever more rarely while
 * there is none.
 */
export class Ronda {
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
   * Begins at once.
   * @param hacer gives `true` where there is more than what was done: the next comes when it has rested `DESCANSO` times
   * as long as this one took, if that is sooner
   * @param prisa milliseconds from the end of one to the next while there is work
   * @param calma at most so many while there is none
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

  /** There is work: the next one is soon, and so is the one after it. */
  apurar(): void {
    this.#apurada = true
    this.#pausa = this.#prisa
    if (!this.#enMarcha && this.#cita > performance.now() + this.#prisa) this.#citar()
  }

  /** Waits for the one under way; after it there is none. */
  async detener(): Promise<void> {
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
