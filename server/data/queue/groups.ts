/** Owner of a request. */
export interface GroupOwner {
  /** Key that identifies the owner. */
  readonly clave: string
}

/** Request of one owner. A group contains all of its data or none. */
export interface GroupRequest<D extends GroupOwner, T> {
  readonly dueno: D
  readonly datos: readonly T[]
}

interface WaitingRequest<D extends GroupOwner, T, R> extends GroupRequest<D, T> {
  resolver: (results: R[]) => void
  reject: (error: unknown) => void
}

interface Queue<D extends GroupOwner, T, R> {
  /** Waiting requests by owner, in the order of the owners' turns. */
  readonly owners: Map<string, WaitingRequest<D, T, R>[]>
  inFlight: number
  scheduled: boolean
}

interface GroupRules<D extends GroupOwner, T, R> {
  /** Maximum number of data in a group. A single request with more data forms a group of its own. */
  max: number
  /** Groups under way at a time, per queue. */
  concurrency: number
  /** Returns the text that identifies an owner; owners with the same text share groups. */
  groupKey: (owner: D) => string
  /**
   * Processes a group, completely or not at all.
   * @param isSingleOwner true if the group belongs to one owner, so that no other owner waits for it
   * @returns a result for each of the data, in their order
   */
  perform: (requests: readonly GroupRequest<D, T>[], isSingleOwner: boolean) => Promise<R[]>
  /** Reports whether the data of one owner may have caused the error. The group is then processed owner by owner. */
  isSingleOwnerError: (error: unknown) => boolean
}

/** Time for which an owner's requests are processed alone after its data made a group fail, in milliseconds. */
const ALONE_MS = 10_000

/**
 * Processes together the requests that arrive at the same time. Owners take turns: however many requests one owner
 * makes, the next group also has requests of the others. An owner that makes a group fail costs the others one
 * repetition, and is then processed alone.
 */
export class Groups<D extends GroupOwner, T, R> {
  readonly #rules: GroupRules<D, T, R>
  readonly #now: () => number
  readonly #queues = new Map<string, Queue<D, T, R>>()
  /** Owners that are processed alone, with the time at which this ends. */
  readonly #aloneUntil = new Map<string, number>()

  /** @param now monotonic clock, in milliseconds */
  constructor(rules: GroupRules<D, T, R>, now = () => performance.now()) {
    this.#rules = rules
    this.#now = now
  }

  async request(dueno: D, datos: readonly T[]): Promise<R[]> {
    if (datos.length === 0) return []
    return new Promise((resolver, reject) => {
      const name = this.#isAlone(dueno) ? `aparte ${dueno.clave}` : `juntos ${this.#rules.groupKey(dueno)}`
      const queue = this.#queues.get(name) ?? { owners: new Map(), inFlight: 0, scheduled: false }
      this.#queues.set(name, queue)
      const ownerRequests = queue.owners.get(dueno.clave)
      const waitingRequest = { dueno, datos, resolver, reject }
      if (ownerRequests) ownerRequests.push(waitingRequest)
      else queue.owners.set(dueno.clave, [waitingRequest])
      if (queue.scheduled) return
      // Without a timer, the group takes all requests of this turn of the event loop, and a single request does not
      // wait for others.
      queue.scheduled = true
      setImmediate(() => {
        queue.scheduled = false
        this.#processGroups(name, queue)
      })
    })
  }

  #isAlone({ clave }: D): boolean {
    const until = this.#aloneUntil.get(clave)
    if (until === undefined) return false
    if (until > this.#now()) return true
    this.#aloneUntil.delete(clave)
    return false
  }

  #processGroups(name: string, queue: Queue<D, T, R>): void {
    while (queue.owners.size > 0 && queue.inFlight < this.#rules.concurrency) {
      const group = this.#takeGroup(queue)
      queue.inFlight++
      void this.#processGroup(group).finally(() => {
        queue.inFlight--
        this.#processGroups(name, queue)
        if (queue.inFlight === 0 && queue.owners.size === 0 && !queue.scheduled) this.#queues.delete(name)
      })
    }
  }

  /** Takes one request of each owner in turn, until the group is full. */
  #takeGroup({ owners }: Queue<D, T, R>): WaitingRequest<D, T, R>[] {
    const group: WaitingRequest<D, T, R>[] = []
    let count = 0
    for (const [key, ownerRequests] of owners) {
      const [firstRequest] = ownerRequests
      if (count > 0 && count + firstRequest!.datos.length > this.#rules.max) continue
      group.push(firstRequest!)
      count += firstRequest!.datos.length
      ownerRequests.shift()
      // The owner moves to the end of the Map, so this loop visits it again after all others.
      owners.delete(key)
      if (ownerRequests.length > 0) owners.set(key, ownerRequests)
      if (count >= this.#rules.max) break
    }
    return group
  }

  async #processGroup(group: readonly WaitingRequest<D, T, R>[]): Promise<void> {
    const requestsByOwner = Map.groupBy(group, ({ dueno }) => dueno.clave)
    try {
      this.#deliverResults(group, await this.#rules.perform(group, requestsByOwner.size === 1))
    } catch (error) {
      if (requestsByOwner.size > 1 && this.#rules.isSingleOwnerError(error))
        await this.#processSeparately([...requestsByOwner.values()])
      else for (const { reject } of group) reject(error)
    }
  }

  /**
   * Processes each owner's requests of a failed group separately and in parallel. Nothing of the group was done, so
   * only the owner at fault is delayed.
   */
  async #processSeparately(ownerGroups: readonly WaitingRequest<D, T, R>[][]): Promise<void> {
    await Promise.all(
      ownerGroups.map(async (part) => {
        try {
          // `isSingleOwner` is false although each owner is alone here. An owner whose data fails again is then known to be at
          // fault.
          this.#deliverResults(part, await this.#rules.perform(part, false))
        } catch (error) {
          if (this.#rules.isSingleOwnerError(error)) this.#aloneUntil.set(part[0]!.dueno.clave, this.#now() + ALONE_MS)
          await this.#processGroup(part)
        }
      }),
    )
  }

  #deliverResults(group: readonly WaitingRequest<D, T, R>[], results: R[]): void {
    let from = 0
    for (const { datos, resolver } of group) {
      resolver(results.slice(from, from + datos.length))
      from += datos.length
    }
  }
}
