/** Jobs fed recently. Feeding a job twice does nothing, but takes time. */
export class Memoria {
  /** Times at which jobs were fed, in milliseconds; the oldest comes first. */
  readonly #alimentados = new Map<string, number>()
  readonly #plazo: number

  /** @param plazo time for which a fed job is not fed again, in milliseconds */
  constructor(plazo: number) {
    this.#plazo = plazo
  }

  tiene(id: string): boolean {
    return this.#alimentados.has(id)
  }

  anotar(ids: readonly string[], ahora: number): void {
    for (const id of ids) this.#alimentados.set(id, ahora)
  }

  olvidarViejos(ahora: number): void {
    for (const [id, cuando] of this.#alimentados) {
      if (cuando > ahora - this.#plazo) break
      this.#alimentados.delete(id)
    }
  }

  olvidarTodo(): void {
    this.#alimentados.clear()
  }
}
