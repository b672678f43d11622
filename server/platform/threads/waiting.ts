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
  add(owner: string, caller: T): T | undefined {
    const ownerLine = this.#lines.get(owner)
    if (ownerLine) ownerLine.push(caller)
    else this.#lines.set(owner, [caller])
    this.#count++
    if (this.#count <= this.#max) return undefined
    let longestOwner = owner
    for (const [other, { length }] of this.#lines)
      if (length > this.#lines.get(longestOwner)!.length) longestOwner = other
    const last = this.#lines.get(longestOwner)!.at(-1)!
    this.remove(longestOwner, last)
    return last
  }

  /**
   * Removes and returns the first item of the owner whose turn comes next. The owner's next item waits until all other
   * owners had a turn.
   */
  next(): T | undefined {
    for (const [owner, [firstWaiter]] of this.#lines) {
      const restOfLine = this.#lines.get(owner)!.slice(1)
      this.#lines.delete(owner)
      if (restOfLine.length > 0) this.#lines.set(owner, restOfLine)
      this.#count--
      return firstWaiter
    }
    return undefined
  }

  /** Removes an item that no longer waits; does nothing if the item is not in the queue. */
  remove(owner: string, caller: T): void {
    const ownerLine = this.#lines.get(owner)
    const where = ownerLine?.indexOf(caller) ?? -1
    if (!ownerLine || where < 0) return
    ownerLine.splice(where, 1)
    this.#count--
    if (ownerLine.length === 0) this.#lines.delete(owner)
  }
}
