import { groupByPart } from '../../../data/partQueries.ts'
import type { JobDeps } from '../../deps.ts'
import type { WebhookKey } from '../../records/webhookKey.ts'
import type { Admission } from './admission.ts'
import type { ReadyDelivery } from './endpoint.ts'
import { Endpoint } from './endpoint.ts'
import { Leases } from './leases.ts'
import { ANNOUNCEMENT_INTERVAL_MS, MAX_IDLE_MS } from './limits.ts'
import type { ReceiverDeps } from './receiver.ts'
import { readReceivers } from './receiver.ts'

type HeldEndpointsDeps = ReceiverDeps & Pick<JobDeps, 'db' | 'noWaitDb' | 'timers' | 'signalWebhooks' | 'announceWork'>

interface EndpointListener {
  /** Called when this process begins to hold an endpoint. */
  onTaken: (endpoint: Endpoint) => void
  /** Called when the row of an endpoint was read. */
  onRefreshed: (endpoint: Endpoint) => void
  /** Called when this process no longer holds an endpoint. */
  onReleased: (endpoint: Endpoint) => void
  onError: (error: unknown) => void
}

/** Endpoints that this process holds, with their leases and their data. */
export class HeldEndpoints {
  readonly #deps: HeldEndpointsDeps
  readonly #admission: Admission<ReadyDelivery, Endpoint>
  readonly #listener: EndpointListener
  readonly #leases: Leases
  readonly #held = new Map<string, Endpoint>()
  /**
   * Endpoints that this process lost while it was sending their deliveries. If this process takes an endpoint again, it
   * must not send these deliveries twice, nor later events of their guides at the same time.
   */
  readonly #lostInFlight = new Map<string, Endpoint>()
  readonly #toRefresh = new Set<Endpoint>()
  #refreshing = false
  #nextAnnouncementAt = 0
  #closed = false

  constructor(deps: HeldEndpointsDeps, admission: Admission<ReadyDelivery, Endpoint>, listener: EndpointListener) {
    this.#deps = deps
    this.#admission = admission
    this.#listener = listener
    this.#leases = new Leases(deps, {
      onTaken: (keys) => {
        for (const key of keys) this.#hold(key)
      },
      onLost: (webhook) => this.#letGo(this.#held.get(webhook)),
      // The process that holds the endpoint may not know of deliveries committed by this process, so it gets a signal.
      onNotTaken: (keys) => deps.signalWebhooks(keys),
    })
  }

  /** Returns an endpoint by its code; undefined if this process does not hold it. */
  de(webhook: string): Endpoint | undefined {
    return this.#held.get(webhook)
  }

  all(): Iterable<Endpoint> {
    return this.#held.values()
  }

  /**
   * Requests endpoints that this process does not hold.
   * @param fromOther true if another process announced the work; the process that holds the endpoint got the same
   * announcement
   */
  request(keys: readonly WebhookKey[], fromOther: boolean): void {
    for (const key of keys) this.#leases.request(key, fromOther)
    if (keys.length > 0) this.#leases.take().catch(this.#listener.onError)
  }

  /** Ends the leases of dead processes. @returns the number of leases */
  bury(): Promise<number> {
    return this.#leases.bury()
  }

  /** Returns true if an exchange that begins now ends before another process may take an endpoint. */
  mayBegin(now: number): boolean {
    return this.#leases.areValid(now)
  }

  /** Sends the heartbeat if it is due, and releases idle endpoints. */
  maintain(now: number): void {
    if (this.#held.size === 0) return
    this.#leases.beat(now).catch(this.#listener.onError)
    const idleEndpoints = [...this.#held.values()].filter(
      ({ inMemory, readMode, lastActivity }) =>
        inMemory.size === 0 && readMode === 'read' && lastActivity < now - MAX_IDLE_MS,
    )
    this.#release(idleEndpoints).catch(this.#listener.onError)
    if (now < this.#nextAnnouncementAt) return
    this.#nextAnnouncementAt = now + ANNOUNCEMENT_INTERVAL_MS
    this.#deps.announceWork()
  }

  async #release(endpoints: readonly Endpoint[]): Promise<void> {
    for (const endpoint of endpoints) this.#letGo(endpoint)
    await this.#leases.release(endpoints.map(({ key }) => key.webhook))
  }

  /** Stops taking endpoints. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#leases.close()
  }

  /** Gives up all endpoints. To be called after {@link close}. */
  releaseAll(): Promise<void> {
    return this.#leases.end()
  }

  #hold(key: WebhookKey): void {
    const { webhook, comercio_id } = key
    const before = this.#lostInFlight.get(webhook)
    this.#lostInFlight.delete(webhook)
    const endpoint = new Endpoint(key, this.#admission.open(comercio_id), this.#deps.timers.now(), before)
    this.#held.set(webhook, endpoint)
    this.#listener.onTaken(endpoint)
  }

  #letGo(endpoint: Endpoint | undefined): void {
    if (!endpoint) return
    const { webhook } = endpoint.key
    this.#held.delete(webhook)
    this.#toRefresh.delete(endpoint)
    for (const { evento } of endpoint.waiting) endpoint.inMemory.delete(evento)
    if (endpoint.inMemory.size > 0) this.#lostInFlight.set(webhook, endpoint)
    this.#admission.close(endpoint)
    this.#listener.onReleased(endpoint)
  }

  /** Records that a delivery of an endpoint that this process no longer holds is no longer in memory. */
  forget(webhook: string, evento: string): void {
    const inMemory = this.#lostInFlight.get(webhook)?.inMemory
    inMemory?.delete(evento)
    if (inMemory?.size === 0) this.#lostInFlight.delete(webhook)
  }

  /** Reads the row of an endpoint, together with the rows of other endpoints requested at the same time. */
  refresh(endpoint: Endpoint): void {
    if (this.#closed) return
    this.#toRefresh.add(endpoint)
    if (this.#refreshing) return
    this.#refreshing = true
    queueMicrotask(async () => {
      try {
        while (this.#toRefresh.size > 0 && !this.#closed) {
          const endpoints = [...this.#toRefresh]
          this.#toRefresh.clear()
          const shards = await groupByPart(this.#deps.db, endpoints, ({ key }) => key.comercio_id)
          await Promise.all(shards.map(([, part]) => this.refreshAll(part).catch(this.#listener.onError)))
        }
      } catch (error) {
        this.#listener.onError(error)
      } finally {
        this.#refreshing = false
      }
    })
  }

  /** Reads the rows of endpoints. */
  async refreshAll(endpoints: readonly Endpoint[]): Promise<void> {
    for (const endpoint of endpoints) this.#toRefresh.delete(endpoint)
    // The time is taken before the read, so the data is at least as new as this time says.
    const now = this.#deps.timers.now()
    const keys = endpoints.map(({ key }) => key)
    const receivers = await readReceivers(this.#deps, keys, (webhook) => this.#held.get(webhook)?.receiver)
    for (const endpoint of endpoints) {
      endpoint.refresh(receivers.get(endpoint.key.webhook), now)
      this.#listener.onRefreshed(endpoint)
    }
  }
}
