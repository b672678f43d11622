/** Who waits for a turn: lines of their own for all owners, who take turns, within one bound. */
export class Espera<T> {
  readonly #maximo: number
  /** The lines, in the order of their owners' turns; none is empty. */
  readonly #filas = new Map<string, T[]>()
  #cuantos = 0

  /** @param maximo how many may wait in all */
  constructor(maximo: number) {
    this.#maximo = maximo
  }

  /**
   * Puts somebody at the end of his owner's line.
   * @returns who has to leave if that is one too many: the last of the longest line, so that a flood pushes out its own
   */
  poner(dueno: string, quien: T): T | undefined {
    const suya = this.#filas.get(dueno)
    if (suya) suya.push(quien)
    else this.#filas.set(dueno, [quien])
    this.#cuantos++
    if (this.#cuantos <= this.#maximo) return undefined
    let larga = dueno
    for (const [otro, { length }] of this.#filas) if (length > this.#filas.get(larga)!.length) larga = otro
    const ultimo = this.#filas.get(larga)!.at(-1)!
    this.quitar(larga, ultimo)
    return ultimo
  }

  /** Takes the first of the owner whose turn it is; his next one waits until all other owners had theirs. */
  sacar(): T | undefined {
    for (const [dueno, [primero]] of this.#filas) {
      const resto = this.#filas.get(dueno)!.slice(1)
      this.#filas.delete(dueno)
      if (resto.length > 0) this.#filas.set(dueno, resto)
      this.#cuantos--
      return primero
    }
    return undefined
  }

  /** Takes out somebody who waits no more; whoever isn't waiting is left alone. */
  quitar(dueno: string, quien: T): void {
    const suya = this.#filas.get(dueno)
    const donde = suya?.indexOf(quien) ?? -1
    if (!suya || donde < 0) return
    suya.splice(donde, 1)
    this.#cuantos--
    if (suya.length === 0) this.#filas.delete(dueno)
  }
}
