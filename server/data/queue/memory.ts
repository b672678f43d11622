/**
 * Ids of the jobs that were added to the queue recently. Adding a job twice has no effect but takes time, so these jobs
 * are skipped for a while.
 */
export class RecentIds {
  /** Times at which jobs were added to the queue, in milliseconds, oldest first. */
  readonly #alimentados = new Map<string, number>()
  readonly #plazo: number

  /** @param plazo time for which an added job is not added again, in milliseconds */
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
