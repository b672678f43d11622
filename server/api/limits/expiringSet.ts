/** Maximum number of members. Above it, the member that was added longest ago is dropped. */
const MAX_MEMBERS = 10_000

/** Set of texts in memory. Members expire after a fixed time. */
export class ExpiringSet {
  readonly #addedAt = new Map<string, number>()
  readonly #ttl: number
  readonly #clock: () => number

  /**
   * @param ttl milliseconds for which a member stays, counted from its last addition
   * @param clock time in milliseconds, of which only differences count
   */
  constructor(ttl: number, clock: () => number = () => performance.now()) {
    this.#ttl = ttl
    this.#clock = clock
  }

  add(member: string): void {
    this.#addedAt.delete(member)
    if (this.#addedAt.size >= MAX_MEMBERS) this.#addedAt.delete(this.#addedAt.keys().next().value!)
    this.#addedAt.set(member, this.#clock())
  }

  has(member: string): boolean {
    const addedAt = this.#addedAt.get(member)
    return addedAt !== undefined && this.#clock() - addedAt < this.#ttl
  }
}
