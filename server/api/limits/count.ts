/** Counters by key. A counter at 0 is not stored. */
export class Counter {
  readonly #cuantos = new Map<string, number>()

  de(clave: string): number {
    return this.#cuantos.get(clave) ?? 0
  }

  add(clave: string): void {
    this.#cuantos.set(clave, this.de(clave) + 1)
  }

  subtract(clave: string): void {
    const quedan = this.de(clave) - 1
    if (quedan > 0) this.#cuantos.set(clave, quedan)
    else this.#cuantos.delete(clave)
  }
}
