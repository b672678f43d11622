import type { WebhookKey } from '../../records/webhookKey.ts'
import { AT_ONCE, type AvisoContent } from '../delivery.ts'
import { FAILURES_TO_BRAKE, MAX_BRAKE } from '../schedule.ts'
import { DeliveryLine, type MerchantShare, type Waiting } from './admission.ts'
import { MAX_EXCHANGES_PER_WEBHOOK } from './limits.ts'
import type { Receiver } from './receiver.ts'

/** Delivery in memory, with the data of its body. */
export interface ReadyDelivery extends Waiting {
  contenido: AvisoContent
}

/**
 * Converts a delivery to its form in memory.
 * @param desde time since which the delivery waits, in milliseconds of the process's clock
 */
export const toReady = (contenido: AvisoContent, desde: number): ReadyDelivery => {
  const { evento, guia_id, secuencia } = contenido.aviso
  return { evento, guia_id, secuencia, desde, contenido }
}

/**
 * Returns true if a pause has not ended yet. A pause that ends more than twice {@link MAX_BRAKE} from now comes from
 * a wrong clock and does not count.
 */
const frena = (until: Date, instant: Date) => until > instant && until.getTime() <= instant.getTime() + 2 * MAX_BRAKE

/** Maximum age of an endpoint's data when a delivery is sent to it, in milliseconds. */
const FRESH_MS = 1_500

/**
 * State of an endpoint's deliveries in memory, compared with those in the database:
 * - `unread`: due deliveries may be missing in memory, and no read is in progress. A new endpoint starts in this mode.
 * - `reading`: a read is in progress and returns all due deliveries announced so far.
 * - `outdated`: a read is in progress and may miss due deliveries.
 * - `read`: memory lacks no due delivery that this process knows of.
 */
export type ReadMode = 'unread' | 'reading' | 'outdated' | 'read'

/** Mode after an announcement that due deliveries may be missing in memory. */
const AFTER_ANNOUNCEMENT = { read: 'unread', unread: 'unread', reading: 'outdated', outdated: 'outdated' } as const
/** Mode after the end of a read. A read ends only if it has started. */
const AFTER_READ = { read: 'read', unread: 'unread', reading: 'read', outdated: 'unread' } as const

/**
 * Endpoint that this process holds, with its data and its deliveries in memory. It has two independent modes:
 *
 * - {@link ReadMode}: `unread` → `reading` ({@link startRead}) → `read` ({@link endRead}). {@link announce} leads from
 *   `read` to `unread`, and from `reading` to `outdated`; the read then ends in `unread`.
 * - {@link sendMode}: `open` sends several deliveries at a time, `probing` one. {@link FAILURES_TO_BRAKE} failures in a
 *   row lead to `probing`. A success, or a row without these failures, leads back to `open`.
 *
 * Neither mode says if due deliveries are accepted. {@link isActive} reads that from the endpoint's row and the clock.
 */
export class Endpoint extends DeliveryLine<ReadyDelivery> {
  readonly key: WebhookKey
  receiver: Receiver | undefined
  /** Time when the receiver was last read, in milliseconds of the process's clock. */
  #readAt = Number.NEGATIVE_INFINITY
  /** Deliveries that wait, are being sent or are not settled yet, by the id of their event. */
  readonly inMemory: Set<string>
  #readMode: ReadMode = 'unread'
  #sendMode: 'open' | 'probing' = 'open'
  /** Guides whose unsent deliveries left memory during a read. */
  readonly #dropped = new Set<string>()
  /** Failures in a row that this process saw since it last knew that the endpoint was healthy. */
  #failures = 0
  /** Failures that are not settled yet. */
  #unsettledFailures = 0
  /** True if the endpoint's data may lack a failure that this process saw. */
  #isUncertain = false
  /**
   * Time when the read before the last one ended, in milliseconds. Until the first read, the time when the endpoint was
   * taken.
   */
  #before: number
  /** Time when the last read ended, in milliseconds. Until the first read, the time when the endpoint was taken. */
  #lastReadAt: number
  /** Ids of the events that the last read returned. */
  #lastReadIds = new Set<string>()
  /** Time of the endpoint's latest activity, in milliseconds of the process's clock. */
  lastActivity: number

  /** @param before earlier hold of this process on the endpoint, with deliveries that it is still sending */
  constructor(key: WebhookKey, part: MerchantShare, now: number, before?: Endpoint) {
    super(part, before?.guiasInFlight)
    this.key = key
    this.inMemory = before?.inMemory ?? new Set()
    this.lastActivity = now
    this.#before = now
    this.#lastReadAt = now
  }

  get readMode(): ReadMode {
    return this.#readMode
  }

  /** True while a read of the endpoint's due deliveries is in progress. */
  get isReading(): boolean {
    return this.#readMode === 'reading' || this.#readMode === 'outdated'
  }

  get sendMode(): 'open' | 'probing' {
    return this.#sendMode
  }

  #setSendMode(mode: 'open' | 'probing'): void {
    this.#sendMode = mode
    this.limit = mode === 'probing' ? 1 : MAX_EXCHANGES_PER_WEBHOOK
  }

  /** Records that due deliveries may be missing in memory. */
  announce(): void {
    this.#readMode = AFTER_ANNOUNCEMENT[this.#readMode]
  }

  /** Records the start of a read of an `unread` endpoint. */
  startRead(): void {
    this.#readMode = 'reading'
  }

  /** Stores the present row of the endpoint. @param receiver undefined if the endpoint no longer exists */
  refresh(receiver: Receiver | undefined, now: number): void {
    this.receiver = receiver
    this.#readAt = now
    this.#isUncertain = this.#unsettledFailures > 0
    if (receiver?.fallas === 0) this.#failures = 0
    this.#setSendMode(Math.max(this.#failures, receiver?.fallas ?? 0) >= FAILURES_TO_BRAKE ? 'probing' : 'open')
  }

  isFresh(now: number): boolean {
    return now - this.#readAt < FRESH_MS
  }

  /** Returns true if the endpoint accepts all due deliveries, and not only deliveries sent on request. */
  isActive(instant: Date): boolean {
    const { estado, comprobado_en = null, freno_vence_en = null } = this.receiver ?? {}
    return estado === 'activo' && comprobado_en !== null && (freno_vence_en === null || !frena(freno_vence_en, instant))
  }

  /** Returns true if a delivery may be sent to the endpoint in its present state. */
  accepts({ contenido: { aviso } }: ReadyDelivery, instant: Date): boolean {
    return aviso.proximo_en.getTime() === AT_ONCE.getTime() || this.isActive(instant)
  }

  /** True if the endpoint is known to be healthy. A success then changes nothing about it. */
  get isHealthy(): boolean {
    const { receiver } = this
    if (this.#isUncertain || !receiver || receiver.comprobado_en === null) return false
    return receiver.fallas === 0 && receiver.freno_vence_en === null
  }

  /** Records the end of an attempt. @returns true if the endpoint now gets one delivery at a time, as a probe */
  record(isAccepted: boolean): boolean {
    if (!isAccepted) {
      this.#isUncertain = true
      this.#unsettledFailures++
    }
    this.#failures = isAccepted ? 0 : this.#failures + 1
    const mustBrake = this.#failures >= FAILURES_TO_BRAKE
    if (mustBrake) this.#setSendMode('probing')
    else if (isAccepted) this.#setSendMode('open')
    return mustBrake
  }

  /** Records that an attempt is settled. */
  settle(evento: string, isAccepted: boolean): void {
    if (!isAccepted && this.#unsettledFailures > 0) this.#unsettledFailures--
    this.inMemory.delete(evento)
  }

  /** Removes an unsent delivery from memory. It is read again. */
  drop({ evento, guia_id }: Waiting): void {
    this.inMemory.delete(evento)
    if (this.isReading) this.#dropped.add(guia_id)
    this.announce()
  }

  /**
   * Returns true if deliveries of the guide may be taken from the read that has just returned. A read leaves out
   * deliveries that are in memory at its start. If they left memory since, the read has only later events of their
   * guide, which must not be sent before them.
   */
  mayTake(guia_id: string): boolean {
    return !this.closed && !this.#dropped.has(guia_id)
  }

  /** Records the end of a read. @param readIds ids of the events that the read returned */
  endRead(readIds: readonly string[], now: number): void {
    this.#readMode = AFTER_READ[this.#readMode]
    this.#before = this.#lastReadAt
    this.#lastReadAt = now
    this.#lastReadIds = new Set(readIds)
    this.#dropped.clear()
  }

  /**
   * Returns true if no read has returned the event. A read may see a commit before the process that commits knows of
   * it.
   * @param from time when the write of the event began, in milliseconds
   */
  isNew(evento: string, from: number): boolean {
    return from > this.#before && !this.#lastReadIds.has(evento)
  }
}
