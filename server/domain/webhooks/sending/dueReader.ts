import { groupByPart } from '../../../data/partQueries.ts'
import type { JobDeps } from '../../deps.ts'
import type { AvisoContent } from '../delivery.ts'
import type { Admission } from './admission.ts'
import { readDue } from './due.ts'
import type { Endpoint, ReadyDelivery } from './endpoint.ts'
import { toReady } from './endpoint.ts'
import {
  MAX_CONCURRENT_READS,
  MAX_ENDPOINTS_CONSIDERED,
  MAX_ENDPOINTS_PER_READ,
  MAX_EXCHANGES_PER_WEBHOOK,
  MAX_WAITING,
  READ_MORE_AT,
  SLOW_AFTER_MS,
} from './limits.ts'

interface EndpointRead {
  endpoint: Endpoint
  count: number
}

interface DueReaderCallbacks {
  /** Reads the rows of endpoints. */
  refresh: (endpoints: readonly Endpoint[]) => Promise<void>
  /** Called when a delivery may be ready to send. */
  onReady: () => void
  onError: (error: unknown) => void
}

/** Reads due deliveries into memory: many endpoints in one read, each within its share. */
export class DueReader {
  readonly #deps: Pick<JobDeps, 'db' | 'clock' | 'timers' | 'secretos' | 'log'>
  readonly #admission: Admission<ReadyDelivery, Endpoint>
  readonly #onError: (error: unknown) => void
  readonly #onReady: () => void
  readonly #refresh: (endpoints: readonly Endpoint[]) => Promise<void>
  readonly #toRead = new Set<Endpoint>()
  #readsInProgress = 0
  #closed = false

  constructor(
    deps: Pick<JobDeps, 'db' | 'clock' | 'timers' | 'secretos' | 'log'>,
    admission: Admission<ReadyDelivery, Endpoint>,
    { refresh, onReady, onError }: DueReaderCallbacks,
  ) {
    this.#deps = deps
    this.#admission = admission
    this.#refresh = refresh
    this.#onReady = onReady
    this.#onError = onError
  }

  /** Announces that an endpoint may have deliveries that are not in memory. They are read as soon as there is room. */
  request(endpoint: Endpoint): void {
    endpoint.announce()
    this.consider(endpoint)
  }

  /**
   * Starts to read further deliveries of this or another endpoint if the memory has room for them. Called when a
   * delivery of the endpoint has ended.
   */
  consider(endpoint: Endpoint): void {
    if (this.#toRead.size > 0) this.#begin()
    const { readMode, waiting } = endpoint
    if (readMode !== 'unread' || waiting.length > READ_MORE_AT || this.#closed) return
    // An endpoint that hangs can send no delivery, so its deliveries would only occupy the places of others.
    if (endpoint.isHung(this.#deps.timers.now(), SLOW_AFTER_MS)) return
    this.#toRead.add(endpoint)
    this.#begin()
  }

  forget(endpoint: Endpoint): void {
    this.#toRead.delete(endpoint)
  }

  close(): void {
    this.#closed = true
    this.#toRead.clear()
  }

  /** Starts a read in a microtask, so that one read serves all requests of one turn of the event loop. */
  #begin(): void {
    if (this.#readsInProgress >= MAX_CONCURRENT_READS) return
    this.#readsInProgress++
    queueMicrotask(async () => {
      const mayContinue = await this.#readChosen()
      this.#readsInProgress--
      if (mayContinue && this.#toRead.size > 0 && !this.#closed) this.#begin()
    })
  }

  /**
   * Reads the due deliveries of the chosen endpoints.
   * @returns true if there was something to read and room for it, and no read failed
   */
  async #readChosen(): Promise<boolean> {
    const endpointReads = this.#chooseEndpoints()
    if (endpointReads.length === 0) return false
    const shards = await groupByPart(this.#deps.db, endpointReads, ({ endpoint }) => endpoint.key.comercio_id)
    const successes = await Promise.all(
      shards.map(([, part]) =>
        this.#readPart(part).then(
          () => true,
          (error: unknown) => {
            this.#onError(error)
            return false
          },
        ),
      ),
    )
    this.#onReady()
    return !successes.includes(false)
  }

  async #readPart(endpointReads: readonly EndpointRead[]): Promise<void> {
    let contentsByRead: AvisoContent[][] = []
    try {
      const dueRequests = endpointReads.map(({ endpoint: { key, inMemory }, count }) => ({
        ...key,
        count,
        salvo: [...inMemory],
      }))
      // An address or a state may have changed since a delivery became due, so the rows of the endpoints are read, too.
      ;[contentsByRead] = await Promise.all([
        readDue(this.#deps, dueRequests, this.#deps.clock()),
        this.#refresh(endpointReads.map(({ endpoint }) => endpoint)),
      ])
      const now = this.#deps.timers.now()
      for (const [i, { endpoint, count }] of endpointReads.entries()) {
        const contents = contentsByRead[i]!
        for (const content of contents) this.#take(endpoint, toReady(content, now))
        // If the read returned as many deliveries as requested, more may be due.
        if (contents.length >= count) endpoint.announce()
      }
    } catch (error) {
      for (const { endpoint } of endpointReads) endpoint.announce()
      throw error
    } finally {
      const now = this.#deps.timers.now()
      for (const [i, { endpoint, count }] of endpointReads.entries()) {
        this.#admission.unreserve(endpoint, count)
        const readIds = contentsByRead[i]?.map(({ aviso }) => aviso.evento) ?? []
        endpoint.endRead(readIds, now)
      }
    }
    for (const { endpoint } of endpointReads) if (endpoint.sendMode === 'open') this.consider(endpoint)
  }

  /**
   * Chooses the endpoints of the next read in turn, as long as memory has room for their deliveries. The more endpoints
   * wait, the fewer deliveries each one gets.
   */
  #chooseEndpoints(): EndpointRead[] {
    const endpointReads: EndpointRead[] = []
    const perEndpoint = Math.max(MAX_EXCHANGES_PER_WEBHOOK, Math.ceil(MAX_WAITING / this.#toRead.size))
    let toConsider = Math.min(MAX_ENDPOINTS_CONSIDERED, this.#toRead.size)
    for (const endpoint of this.#toRead) {
      if (endpointReads.length === MAX_ENDPOINTS_PER_READ || toConsider-- === 0) break
      this.#toRead.delete(endpoint)
      if (endpoint.isReading) continue
      const count = this.#admission.reserve(endpoint, perEndpoint)
      if (count > 0) {
        endpoint.startRead()
        endpointReads.push({ endpoint, count })
      } else if (endpoint.sendMode === 'open') this.#toRead.add(endpoint)
    }
    return endpointReads
  }

  #take(endpoint: Endpoint, delivery: ReadyDelivery): void {
    if (endpoint.inMemory.has(delivery.evento) || !endpoint.mayTake(delivery.guia_id)) return
    endpoint.inMemory.add(delivery.evento)
    this.#admission.add(endpoint, delivery)
  }
}
