/** Counters by key. A counter at 0 is not stored. */
export class Counter {
  readonly #counts = new Map<string, number>()

  de(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  add(key: string): void {
    this.#counts.set(key, this.de(key) + 1)
  }

  subtract(key: string): void {
    const countLeft = this.de(key) - 1
    if (countLeft > 0) this.#counts.set(key, countLeft)
    else this.#counts.delete(key)
  }
}
