import {
  MAX_EXCHANGES,
  MAX_EXCHANGES_PER_MERCHANT,
  MAX_EXCHANGES_PER_WEBHOOK,
  MAX_FAST_EXCHANGES,
  MAX_WAITING,
  MAX_WAITING_PER_MERCHANT,
  MAX_WAITING_PER_WEBHOOK,
  SLOW_AFTER_MS,
} from './limits.ts'

/** Delivery that waits in memory for its turn. */
export interface Waiting {
  /** Id of the event (evt_…), which identifies the delivery within its endpoint. */
  readonly evento: string
  /**
   * Guide of the event. Two events of one guide are never sent at the same time, and are sent in the order of their
   * sequence.
   */
  readonly guia_id: string
  readonly secuencia: number
  /** Time since which the delivery waits, in milliseconds of the process's clock. */
  readonly desde: number
}

/** Share of one merchant in the capacity of this process: its exchanges and waiting deliveries. */
export class MerchantShare {
  readonly comercio: string
  inFlightCount = 0
  waitingCount = 0
  /** Places reserved for deliveries that are being read. */
  reserved = 0
  lineCount = 0
  /**
   * Endpoints with due deliveries that wait only because the merchant uses its whole share. The first of them continues
   * when a request to one of the merchant's endpoints ends.
   */
  readonly stalledLines = new Set<DeliveryLine>()

  constructor(comercio: string) {
    this.comercio = comercio
  }
}

/** Line of one endpoint: its waiting deliveries and its exchanges in progress. */
export class DeliveryLine<T extends Waiting = Waiting> {
  readonly share: MerchantShare
  readonly waiting: T[] = []
  /** Guides with an exchange in progress. */
  readonly guiasInFlight: Set<string>
  inFlight = 0
  /** Maximum concurrent exchanges of this line. */
  limit = MAX_EXCHANGES_PER_WEBHOOK
  /** Time when an exchange last began in an idle line, or last ended, in milliseconds. */
  lastProgress = 0
  isQueued = false
  /** True once the line is closed: it takes no delivery, and its exchanges in progress end. */
  closed = false

  /** @param guiasInFlight guides with exchanges that a closed line of the same endpoint has in progress */
  constructor(part: MerchantShare, guiasInFlight = new Set<string>()) {
    this.share = part
    this.guiasInFlight = guiasInFlight
  }

  /** Returns the index of the first delivery whose guide has no exchange in progress; -1 if none exists. */
  findFirstFree(): number {
    return this.waiting.findIndex(({ guia_id }) => !this.guiasInFlight.has(guia_id))
  }

  /** Returns true if the line is full and no exchange has ended for more than `ms` milliseconds. */
  isHung(now: number, ms: number): boolean {
    return this.inFlight >= this.limit && now - this.lastProgress > ms
  }
}

/** Exchange that may begin now: its line and its delivery. */
export interface AdmissionTurn<T extends Waiting, L extends DeliveryLine<T>> {
  readonly line: L
  readonly aviso: T
  /** Time when the exchange began, in milliseconds. */
  readonly startedAt: number
}

/**
 * Decides which line may send now, so that a slow receiver of one merchant does not cost the others. Lines take turns.
 * Exchanges in progress and deliveries in memory are limited for each endpoint, for each merchant and in total. This
 * class uses neither a clock nor the network: callers pass each time, in milliseconds.
 */
export class Admission<T extends Waiting, L extends DeliveryLine<T>> {
  readonly #shares = new Map<string, MerchantShare>()
  /** Exchanges in progress, in the order in which they began. */
  readonly #inFlight = new Set<AdmissionTurn<T, L>>()
  readonly #queuedLines: L[] = []
  #waitingCount = 0
  #reserved = 0

  get inFlightCount(): number {
    return this.#inFlight.size
  }

  get waitingCount(): number {
    return this.#waitingCount
  }

  /** Returns the share of a merchant, with one more line of the merchant. */
  open(comercio: string): MerchantShare {
    const part = this.#shares.get(comercio) ?? new MerchantShare(comercio)
    this.#shares.set(comercio, part)
    part.lineCount++
    return part
  }

  /** Removes a line and the deliveries that wait in it. */
  close(line: L): void {
    const { share } = line
    line.closed = true
    this.remove(line)
    share.stalledLines.delete(line)
    if (--share.lineCount === 0) this.#shares.delete(share.comercio)
  }

  /**
   * Returns the number of deliveries of a line that may still be brought into memory. A merchant with no waiting
   * delivery gets as many places as one endpoint can send at once, even if the memory is full. Slow receivers of other
   * merchants therefore exclude no merchant.
   */
  roomFor({ waiting, inFlight, limit, share }: L): number {
    if (limit === 1) return waiting.length + inFlight === 0 ? 1 : 0
    const used = share.waitingCount + share.reserved
    const remaining = MAX_WAITING - this.#waitingCount - this.#reserved
    const fairShare = Math.min(MAX_WAITING_PER_MERCHANT, Math.floor(remaining / 8))
    return Math.max(
      0,
      Math.min(MAX_WAITING_PER_WEBHOOK - waiting.length, Math.max(MAX_EXCHANGES_PER_WEBHOOK, fairShare) - used),
    )
  }

  /**
   * Reserves places for deliveries of a line while they are being read.
   * @returns the number of places, `wanted` at most
   */
  reserve(line: L, wanted: number): number {
    const count = Math.min(wanted, this.roomFor(line))
    line.share.reserved += count
    this.#reserved += count
    return count
  }

  /** Releases the places that {@link reserve} reserved. */
  unreserve({ share }: L, count: number): void {
    share.reserved -= count
    this.#reserved -= count
  }

  /** Adds a delivery at the end of its line, but before later events of the same guide. */
  add(line: L, aviso: T): void {
    const { guia_id, secuencia } = aviso
    const posterior = line.waiting.findIndex((other) => other.guia_id === guia_id && other.secuencia > secuencia)
    line.waiting.splice(posterior === -1 ? line.waiting.length : posterior, 0, aviso)
    line.share.waitingCount++
    this.#waitingCount++
    this.queueLine(line)
  }

  /** Removes waiting deliveries from a line, all of them or those that `isSelected` selects, and returns them. */
  remove(line: L, isSelected: (aviso: T) => boolean = () => true): T[] {
    const removed = line.waiting.filter(isSelected)
    if (removed.length === 0) return removed
    const removedSet = new Set(removed)
    line.waiting.splice(0, line.waiting.length, ...line.waiting.filter((aviso) => !removedSet.has(aviso)))
    line.share.waitingCount -= removed.length
    this.#waitingCount -= removed.length
    return removed
  }

  /** Gives a line a place among the lines that take turns, if one of its deliveries could be sent. */
  queueLine(line: L): void {
    if (line.closed || line.isQueued || line.inFlight >= line.limit || line.findFirstFree() === -1) return
    line.isQueued = true
    this.#queuedLines.push(line)
  }

  /**
   * Returns the next exchange that may begin now; undefined if no exchange may begin.
   * @param maySend returns true if the line may be sent to now; other lines lose their place until the next {@link queueLine}
   */
  take(now: number, maySend: (line: L) => boolean): AdmissionTurn<T, L> | undefined {
    if (this.#queuedLines.length === 0 || !this.#hasRoom(now)) return undefined
    const shareLimit = this.#comercioLimit()
    for (let line = this.#queuedLines.shift(); line; line = this.#queuedLines.shift()) {
      line.isQueued = false
      const index = line.inFlight < line.limit ? line.findFirstFree() : -1
      if (index === -1 || !maySend(line)) continue
      if (line.share.inFlightCount >= shareLimit) line.share.stalledLines.add(line)
      else return this.#begin(line, index, now)
    }
    return undefined
  }

  #begin(line: L, index: number, now: number): AdmissionTurn<T, L> {
    const [aviso] = line.waiting.splice(index, 1)
    const turn = { line, aviso: aviso!, startedAt: now }
    line.share.waitingCount--
    this.#waitingCount--
    this.#inFlight.add(turn)
    line.guiasInFlight.add(turn.aviso.guia_id)
    if (line.inFlight++ === 0) line.lastProgress = now
    line.share.inFlightCount++
    this.queueLine(line)
    return turn
  }

  /** Ends an exchange. Its place is free again, and so is its guide. */
  finish(turn: AdmissionTurn<T, L>, now: number): void {
    const { line, aviso } = turn
    if (!this.#inFlight.delete(turn)) return
    line.guiasInFlight.delete(aviso.guia_id)
    line.inFlight--
    line.lastProgress = now
    line.share.inFlightCount--
    const [stalledLine] = line.share.stalledLines
    if (stalledLine) {
      line.share.stalledLines.delete(stalledLine)
      this.queueLine(stalledLine as L)
    }
    this.queueLine(line)
  }

  #hasRoom(now: number): boolean {
    if (this.#inFlight.size < MAX_FAST_EXCHANGES) return true
    if (this.#inFlight.size >= MAX_EXCHANGES) return false
    let slowCount = 0
    for (const { startedAt } of this.#inFlight) {
      if (startedAt > now - SLOW_AFTER_MS) break
      slowCount++
    }
    return this.#inFlight.size - slowCount < MAX_FAST_EXCHANGES
  }

  #comercioLimit(): number {
    return Math.max(
      MAX_EXCHANGES_PER_WEBHOOK,
      Math.min(MAX_EXCHANGES_PER_MERCHANT, Math.floor((MAX_EXCHANGES - this.#inFlight.size) / 8)),
    )
  }
}
