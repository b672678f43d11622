/** Which jobs were fed lately: feeding one twice does nothing, but costs. */
export class Memoria {
  /** When each was fed, in milliseconds; the oldest stands first. */
  readonly #alimentados = new Map<string, number>()
  readonly #plazo: number

  /** @param plazo how long a job that was fed isn't fed again, in milliseconds */
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
