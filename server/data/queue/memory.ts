/**
 * Ids of the jobs that were fed recently. Feeding a job twice does nothing but takes time, so these jobs are not fed
 * again for a while.
 */
export class RecentIds {
  /** Times at which jobs were fed, in milliseconds; the oldest comes first. */
  readonly #alimentados = new Map<string, number>()
  readonly #plazo: number

  /** @param plazo time for which a fed job is not fed again, in milliseconds */
  constructor(plazo: number) {
    this.#plazo = plazo
  }

  has(id: string): boolean {
    return this.#alimentados.has(id)
  }

  add(ids: readonly string[], ahora: number): void {
    for (const id of ids) this.#alimentados.set(id, ahora)
  }

  forgetOld(ahora: number): void {
    for (const [id, cuando] of this.#alimentados) {
      if (cuando > ahora - this.#plazo) break
      this.#alimentados.delete(id)
    }
  }

  clear(): void {
    this.#alimentados.clear()
  }
}
