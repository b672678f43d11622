/** Rate: the average number per second (`perSecond`), and the number admitted at once after a rest (`burst`). */
export interface Rate {
  perSecond: number
  burst: number
}

/** Returns a rate of `timesPerMinute` per minute, all of which may come at once. */
export const perMinute = (timesPerMinute: number): Rate => ({ perSecond: timesPerMinute / 60, burst: timesPerMinute })

interface Bucket extends Rate {
  readonly clave: string
  tokens: number
  countedAt: number
  /** Neighbours in the order of last use: the bucket used before this bucket, and the bucket used after it. */
  anterior: Bucket
  next: Bucket
}

/** Number of buckets, as a multiple of `max`, above which buckets are dropped even if they are not full. */
export const MEMORY_FACTOR = 5

/** Options of {@link Buckets}. */
export interface BucketOptions {
  /** Returns the number of processes that share each rate evenly at this moment. */
  processes?: () => number
  /** Returns the time in milliseconds, of which only differences count. */
  clock?: () => number
  /** Number of keys above which full buckets are dropped, the least recently used first. */
  max?: number
}

/**
 * Token buckets by key, in the memory of this process, so that a check costs no round trip. Dropping a full bucket
 * changes nothing, because a new bucket is full, too. Other buckets are dropped only above {@link MEMORY_FACTOR} times
 * `max`. Until the last of them would be full, new buckets start with the tokens that this bucket would have, but at
 * least one token.
 */
export class Buckets {
  readonly #buckets = new Map<string, Bucket>()
  /**
   * Head of the ring of all buckets. The next bucket in the ring was used longest ago, the previous bucket most
   * recently.
   */
  readonly #head = createHead()
  /** Time at which the last of the buckets that were dropped before they were full would be full. */
  #forgottenUntil = Number.NEGATIVE_INFINITY
  readonly #processes: () => number
  readonly #clock: () => number
  readonly #max: number
  /** Number of buckets added between two searches for buckets to drop. */
  readonly #perSweep: number
  #addedCount = 0

  constructor({ processes = () => 1, clock = () => performance.now(), max = 10_000 }: BucketOptions = {}) {
    this.#processes = processes
    this.#clock = clock
    this.#max = max
    this.#perSweep = Math.ceil(max / 100)
  }

  /** Number of buckets in memory. */
  get size(): number {
    return this.#buckets.size
  }

  /** Number of processes that share each rate at this moment. */
  get processes(): number {
    return this.#processes()
  }

  /** Returns this process's share of a rate, with a burst of at least 1. */
  parte({ perSecond, burst }: Rate): Rate {
    const processes = this.#processes()
    return { perSecond: perSecond / processes, burst: burstShare(burst, processes) }
  }

  /**
   * Takes tokens from a bucket. A bucket with one token left may give more, and then has a negative number of tokens.
   * An expensive request can therefore pass even if the burst of this process's share is smaller than the cost.
   * @returns seconds to wait if nothing was taken; 0 if the tokens were taken
   */
  take(key: string, rate: Rate, cost = 1): number {
    const processes = this.#processes()
    const perSecond = rate.perSecond / processes
    const bucket = this.#refill(key, perSecond, burstShare(rate.burst, processes))
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond))
    bucket.tokens -= cost
    return 0
  }

  /** Gives back tokens that were taken but not needed. */
  giveBack(key: string, cost: number): void {
    const bucket = this.#buckets.get(key)
    if (bucket) bucket.tokens += cost
  }

  /** Returns the whole tokens left, and the seconds until the bucket is full. */
  remaining(key: string, rate: Rate): { remaining: number; fullIn: number } {
    const processes = this.#processes()
    const perSecond = rate.perSecond / processes
    const burst = burstShare(rate.burst, processes)
    const { tokens } = this.#refill(key, perSecond, burst)
    return { remaining: Math.max(0, Math.floor(tokens)), fullIn: Math.ceil((burst - tokens) / perSecond) }
  }

  #refill(key: string, perSecond: number, burst: number): Bucket {
    const now = this.#clock()
    const bucket = this.#buckets.get(key) ?? this.#addBucket(key, now, perSecond, burst)
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.countedAt) / 1_000) * perSecond)
    bucket.countedAt = now
    bucket.perSecond = perSecond
    bucket.burst = burst
    this.#moveToEnd(bucket)
    return bucket
  }

  #addBucket(clave: string, now: number, perSecond: number, burst: number): Bucket {
    if (this.#buckets.size >= this.#max && ++this.#addedCount >= this.#perSweep) this.#makeRoom(now)
    const head = this.#head
    const tokens = this.#initialTokens(now, perSecond, burst)
    const bucket: Bucket = { clave, tokens, countedAt: now, perSecond, burst, anterior: head, next: head }
    this.#buckets.set(clave, bucket)
    insertBefore(head, bucket)
    return bucket
  }

  /** Returns the initial tokens of a new bucket. */
  #initialTokens(now: number, perSecond: number, burst: number): number {
    if (now >= this.#forgottenUntil) return burst
    return Math.max(1, burst - ((this.#forgottenUntil - now) / 1_000) * perSecond)
  }

  /**
   * Drops full buckets. Examines twice as many buckets as were added since the last search, so that many full buckets
   * are soon gone.
   */
  #makeRoom(now: number): void {
    this.#addedCount = 0
    for (let checksLeft = 2 * this.#perSweep; checksLeft > 0 && this.#buckets.size >= this.#max; checksLeft--) {
      const bucket = this.#head.next
      const fullAt = bucket.countedAt + ((bucket.burst - bucket.tokens) / bucket.perSecond) * 1_000
      // A bucket that is not full moves to the end of the ring. It would otherwise stay at the front, and the loop
      // would examine no other bucket.
      if (fullAt > now && this.#buckets.size <= MEMORY_FACTOR * this.#max - this.#perSweep) this.#moveToEnd(bucket)
      else {
        if (fullAt > now) this.#forgottenUntil = Math.max(this.#forgottenUntil, fullAt)
        unlink(bucket)
        this.#buckets.delete(bucket.clave)
      }
    }
  }

  /**
   * Moves a bucket to the end of the ring, the position of the bucket used last. Deleting it from the Map and adding it
   * again would cost a rehash every few requests.
   */
  #moveToEnd(bucket: Bucket): void {
    if (this.#head.anterior === bucket) return
    unlink(bucket)
    insertBefore(this.#head, bucket)
  }
}

const burstShare = (burst: number, processes: number) => Math.max(1, burst / processes)

function createHead(): Bucket {
  const head = { clave: '', tokens: 0, countedAt: 0, perSecond: 0, burst: 0 } as Bucket
  head.anterior = head
  head.next = head
  return head
}

function insertBefore(next: Bucket, bucket: Bucket): void {
  const { anterior } = next
  bucket.anterior = anterior
  bucket.next = next
  anterior.next = bucket
  next.anterior = bucket
}

/** Removes a bucket from its ring. */
function unlink({ anterior, next }: Bucket): void {
  anterior.next = next
  next.anterior = anterior
}

/** Rate limit: takes one token of a key, and returns the seconds to wait, or 0 if the caller may continue. */
export type Limit = (key: string) => number

/** Creates a limit of `timesPerMinute` per minute for each key, all of which may come at once. */
export function createLimit(timesPerMinute: number, options: BucketOptions = {}): Limit {
  const buckets = new Buckets(options)
  const rate = perMinute(timesPerMinute)
  return (key) => buckets.take(key, rate)
}
