/** Counters by key. A counter at 0 is not stored. */
export class Conteo {
  readonly #cuantos = new Map<string, number>()

  de(clave: string): number {
    return this.#cuantos.get(clave) ?? 0
  }

  sumar(clave: string): void {
    this.#cuantos.set(clave, this.de(clave) + 1)
  }

  restar(clave: string): void {
    const quedan = this.de(clave) - 1
    if (quedan > 0) this.#cuantos.set(clave, quedan)
    else this.#cuantos.delete(clave)
  }
}
