/** Queue of limited length with a line for each owner. The owners take turns. */
export class WaitingList<T> {
  readonly #maximo: number
  /** Lines by owner, in the order of the owners' turns; no line is empty. */
  readonly #filas = new Map<string, T[]>()
  #cuantos = 0

  /** @param maximo maximum number of waiting items of all owners */
  constructor(maximo: number) {
    this.#maximo = maximo
  }

  /**
   * Adds an item at the end of its owner's line.
   * @returns the item that must leave if the queue is too long: the last of the longest line, so that a flood drops its
   * own items
   */
  add(dueno: string, quien: T): T | undefined {
    const suya = this.#filas.get(dueno)
    if (suya) suya.push(quien)
    else this.#filas.set(dueno, [quien])
    this.#cuantos++
    if (this.#cuantos <= this.#maximo) return undefined
    let larga = dueno
    for (const [otro, { length }] of this.#filas) if (length > this.#filas.get(larga)!.length) larga = otro
    const ultimo = this.#filas.get(larga)!.at(-1)!
    this.remove(larga, ultimo)
    return ultimo
  }

  /**
   * Removes and returns the first item of the owner whose turn comes next. The owner's next item waits until all other
   * owners had a turn.
   */
  next(): T | undefined {
    for (const [dueno, [primero]] of this.#filas) {
      const resto = this.#filas.get(dueno)!.slice(1)
      this.#filas.delete(dueno)
      if (resto.length > 0) this.#filas.set(dueno, resto)
      this.#cuantos--
      return primero
    }
    return undefined
  }

  /** Removes an item that no longer waits; does nothing if the item is not in the queue. */
  remove(dueno: string, quien: T): void {
    const suya = this.#filas.get(dueno)
    const donde = suya?.indexOf(quien) ?? -1
    if (!suya || donde < 0) return
    suya.splice(donde, 1)
    this.#cuantos--
    if (suya.length === 0) this.#filas.delete(dueno)
  }
}
