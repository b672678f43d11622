/** Queue of limited length with a line for each owner. The owners take turns. */
export class WaitingList<T> {
  readonly #max: number
  /** Lines by owner, in the order of the owners' turns; no line is empty. */
  readonly #lines = new Map<string, T[]>()
  #count = 0

  /** @param max maximum number of waiting items of all owners */
  constructor(max: number) {
    this.#max = max
  }

  /**
   * Adds an item at the end of its owner's line.
   * @returns the item that must leave if the queue is too long: the last of the longest line, so that a flood drops its
   * own items
   */
  add(dueno: string, quien: T): T | undefined {
    const ownerLine = this.#lines.get(dueno)
    if (ownerLine) ownerLine.push(quien)
    else this.#lines.set(dueno, [quien])
    this.#count++
    if (this.#count <= this.#max) return undefined
    let longestOwner = dueno
    for (const [otro, { length }] of this.#lines)
      if (length > this.#lines.get(longestOwner)!.length) longestOwner = otro
    const ultimo = this.#lines.get(longestOwner)!.at(-1)!
    this.remove(longestOwner, ultimo)
    return ultimo
  }

  /**
   * Removes and returns the first item of the owner whose turn comes next. The owner's next item waits until all other
   * owners had a turn.
   */
  next(): T | undefined {
    for (const [dueno, [firstWaiter]] of this.#lines) {
      const restOfLine = this.#lines.get(dueno)!.slice(1)
      this.#lines.delete(dueno)
      if (restOfLine.length > 0) this.#lines.set(dueno, restOfLine)
      this.#count--
      return firstWaiter
    }
    return undefined
  }

  /** Removes an item that no longer waits; does nothing if the item is not in the queue. */
  remove(dueno: string, quien: T): void {
    const ownerLine = this.#lines.get(dueno)
    const donde = ownerLine?.indexOf(quien) ?? -1
    if (!ownerLine || donde < 0) return
    ownerLine.splice(donde, 1)
    this.#count--
    if (ownerLine.length === 0) this.#lines.delete(dueno)
  }
}
