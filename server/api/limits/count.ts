/** Counters by key. A counter at 0 is not stored. */
export class Counter {
  readonly #counts = new Map<string, number>()

  de(clave: string): number {
    return this.#counts.get(clave) ?? 0
  }

  add(clave: string): void {
    this.#counts.set(clave, this.de(clave) + 1)
  }

  subtract(clave: string): void {
    const countLeft = this.de(clave) - 1
    if (countLeft > 0) this.#counts.set(clave, countLeft)
    else this.#counts.delete(clave)
  }
}
