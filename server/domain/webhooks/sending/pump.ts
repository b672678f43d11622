import type { PgBoss } from 'pg-boss'
import { groupByPart } from '../../../data/partQueries.ts'
import { translateError } from '../../../platform/errors.ts'
import { sleep } from '../../../platform/time/timers.ts'
import { inSpan } from '../../../platform/tracing.ts'
import type { JobDeps } from '../../deps.ts'
import type { RecentEvento } from '../../eventos/evento.ts'
import type { WebhookKey } from '../../records/webhookKey.ts'
import type { AvisoContent } from '../delivery.ts'
import { avisosOf } from '../delivery.ts'
import type { AdmissionTurn } from './admission.ts'
import { Admission } from './admission.ts'
import { DueReader } from './dueReader.ts'
import type { Endpoint, ReadyDelivery } from './endpoint.ts'
import { toReady } from './endpoint.ts'
import { exchange } from './exchange.ts'
import { HeldEndpoints } from './heldEndpoints.ts'
import { Hosts, hostSendOf } from './hosts.ts'
import { MAX_MEMORY_WAIT_MS, ROUND_INTERVAL_MS, SLOW_AFTER_MS, STOP_TIMEOUT_MS } from './limits.ts'
import { Retries } from './retries.ts'
import { DueSearch } from './search.ts'
import type { AttemptResult } from './settleAttempts.ts'
import { Settlement } from './settlement.ts'

type PumpDeps = Pick<
  JobDeps,
  | ('db' | 'noWaitDb' | 'log' | 'clock' | 'timers' | 'newId' | 'random')
  | ('secretos' | 'sender' | 'destinations' | 'metrics' | 'signalWebhooks' | 'wake' | 'announceWork')
>

/** Returns the `traceparent` of the delivery's event; null if the event is not traced. */
const traceparentOf = (content: AvisoContent) => ('evento' in content ? content.evento.traza : null)

/** Returns the id of the trace of the delivery's event. */
const traceOf = (content: AvisoContent) => traceparentOf(content)?.split('-')[1]

/**
 * Sends due deliveries to merchants' servers. A class of its own does each step, and this class connects them:
 *
 *     commit here ──► receive ────────────────────────────┐
 *     signal, search, Retries ──► look ─┐                 ▼
 *     round ────────────────────────────┴─► DueReader ─► Admission ─► exchange ─► Settlement ─► Retries
 *                                               ▲             │
 *                                               └── dropped ──┘
 *
 * `look` asks {@link HeldEndpoints} for endpoints that this process does not hold. A held {@link Endpoint} has two modes,
 * which its own description shows. Its read mode is moved by {@link DueReader}, by deliveries that leave memory unsent,
 * and by a search that finds it. Its send mode is moved by the ends of attempts and by each read of its row.
 */
export class Pump {
  readonly #deps: PumpDeps
  readonly #admission = new Admission<ReadyDelivery, Endpoint>()
  readonly #hosts = new Hosts<Endpoint>()
  readonly #endpoints: HeldEndpoints
  readonly #reader: DueReader
  readonly #settlement: Settlement
  readonly #search: DueSearch
  readonly #retries: Retries
  #cancelRound = () => {}
  #stopped = false
  #abandoned = false

  constructor(boss: PgBoss, deps: PumpDeps) {
    this.#deps = deps
    this.#endpoints = new HeldEndpoints(deps, this.#admission, {
      onTaken: (endpoint) => this.#reader.request(endpoint),
      onRefreshed: (endpoint) => this.#onRefreshed(endpoint),
      onReleased: (endpoint) => {
        this.#reader.forget(endpoint)
        this.#hosts.forget(endpoint)
      },
      onError: this.#logFailure('webhook endpoint upkeep failed'),
    })
    this.#reader = new DueReader(deps, this.#admission, {
      refresh: (endpoints) => this.#endpoints.refreshAll(endpoints),
      onReady: () => this.#send(),
      onError: this.#logFailure('reading due webhook deliveries failed'),
    })
    const settlementDeps = { ...deps, onNotice: deps.metrics.aviso }
    this.#settlement = new Settlement(settlementDeps, (group, healthMayDiffer) =>
      this.#onSettled(group, healthMayDiffer),
    )
    this.#retries = new Retries(boss, deps)
    this.#search = new DueSearch(deps, (keys) => this.#onFound(keys), this.#logFailure('webhook search failed'))
    this.#scheduleRound()
    this.#search.request()
  }

  /** Starts a search for due deliveries of any endpoint. */
  wake(): void {
    this.#search.request()
  }

  /**
   * Reads the due deliveries of these endpoints. Requests the leases of endpoints that this process does not hold.
   * @param fromOther true if another process announced the work; the process that holds the endpoint got the same
   * announcement
   */
  look(keys: readonly WebhookKey[], fromOther = false): void {
    const notHeld: WebhookKey[] = []
    for (const key of keys) {
      const endpoint = this.#endpoints.de(key.webhook)
      if (!endpoint) notHeld.push(key)
      else {
        endpoint.lastActivity = this.#deps.timers.now()
        this.#reader.request(endpoint)
      }
    }
    this.#endpoints.request(notHeld, fromOther)
  }

  /**
   * Receives events that this process has just committed. Their deliveries to endpoints that this process holds are not
   * read again.
   */
  receive(recentEventos: readonly RecentEvento[]): void {
    const now = this.#deps.timers.now()
    const keysToLook: WebhookKey[] = []
    for (const recentEvento of recentEventos)
      for (const content of avisosOf(recentEvento)) {
        const { aviso } = content
        const endpoint = this.#endpoints.de(aviso.webhook)
        if (endpoint?.isNew(aviso.evento, recentEvento.desde) && this.#fits(endpoint, aviso.secuencia)) {
          endpoint.lastActivity = now
          endpoint.inMemory.add(aviso.evento)
          this.#admission.add(endpoint, toReady(content, now))
        } else keysToLook.push(aviso)
      }
    this.#send()
    this.look(keysToLook)
  }

  /**
   * Returns true if a new delivery may go directly into memory. The delivery must belong to the first event of its
   * guide, and no older delivery may wait to be read. This keeps each guide's deliveries in order.
   */
  #fits(endpoint: Endpoint, secuencia: number): boolean {
    const { readMode, sendMode } = endpoint
    if (secuencia !== 1 || readMode !== 'read' || sendMode === 'probing' || this.#stopped) return false
    return endpoint.isActive(this.#deps.clock()) && this.#admission.roomFor(endpoint) > 0
  }

  /** Ends the leases of dead processes, and searches for deliveries to their endpoints. */
  async rescue(): Promise<void> {
    const endpoints = await this.#endpoints.bury()
    if (endpoints === 0) return
    this.#deps.log.warn({ endpoints }, 'endpoints of a lost worker')
    this.wake()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelRound()
    this.#retries.close()
    this.#reader.close()
    await Promise.all([this.#search.close(), this.#endpoints.close()])
    for (const endpoint of this.#endpoints.all()) this.#admission.remove(endpoint)
    const deadline = this.#deps.timers.now() + STOP_TIMEOUT_MS
    while (this.#deps.timers.now() < deadline && this.#admission.inFlightCount + this.#settlement.pending > 0) {
      this.#settlement.flush()
      await sleep(this.#deps.timers, 10)
    }
    this.#abandoned = true
    this.#settlement.abandon()
    await this.#endpoints.releaseAll().catch(this.#logFailure('releasing webhook leases failed'))
    await this.#deps.sender.close()
  }

  // --- Sending deliveries ---

  /** Begins all exchanges for which there is room. */
  #send(): void {
    const now = this.#deps.timers.now()
    const maySend = (endpoint: Endpoint) => this.#maySend(endpoint, now)
    while (!this.#stopped && this.#settlement.hasRoom) {
      const turn = this.#admission.take(now, maySend)
      if (!turn) return
      void this.#attempt(turn)
    }
  }

  /**
   * Returns true if the endpoint may be sent to now. If its data is too old, starts a read; the endpoint has its turn
   * after the read.
   */
  #maySend(endpoint: Endpoint, now: number): boolean {
    if (!endpoint.isFresh(now)) this.#endpoints.refresh(endpoint)
    else return this.#endpoints.mayBegin(now) && endpoint.receiver?.claves !== undefined && this.#fitsItsHost(endpoint)
    return false
  }

  #fitsItsHost(endpoint: Endpoint): boolean {
    const { contenido } = endpoint.waiting[endpoint.findFirstFree()]!
    const hostSend = hostSendOf(endpoint.receiver!, contenido.aviso)
    return !hostSend || this.#hosts.maySend(hostSend, endpoint)
  }

  async #attempt(turn: AdmissionTurn<ReadyDelivery, Endpoint>): Promise<void> {
    const { line: endpoint, aviso } = turn
    const hostSend = hostSendOf(endpoint.receiver!, aviso.contenido.aviso)
    if (hostSend) this.#hosts.start(hostSend)
    const result = await this.#exchange(endpoint, aviso.contenido).catch((err: unknown) => {
      this.#deps.log.error({ err, webhook: endpoint.key.webhook }, 'webhook exchange failed')
      return undefined
    })
    const now = this.#deps.timers.now()
    this.#admission.finish(turn, now)
    if (hostSend)
      for (const other of this.#hosts.finish(hostSend, result?.respuesta.error === null))
        this.#admission.queueLine(other)
    endpoint.lastActivity = now
    // The process may have lost the endpoint during the exchange, and taken it again. The guide is now free in both.
    const currentEndpoint = this.#endpoints.de(endpoint.key.webhook) ?? endpoint
    this.#admission.queueLine(currentEndpoint)
    // A stop may have cut the exchange, so its result does not count. Another process sends the delivery again.
    if (result && !this.#abandoned) this.#record(currentEndpoint, result, traceOf(aviso.contenido))
    else this.#giveBack(currentEndpoint, aviso)
    this.#send()
    this.#reader.consider(currentEndpoint)
  }

  /** Makes the attempt in the trace of its event, also when the event is days old. */
  #exchange(endpoint: Endpoint, content: AvisoContent): Promise<AttemptResult> {
    const parent = traceparentOf(content)
    const attributes = { 'guias.webhook': endpoint.key.webhook }
    return inSpan('webhook lease', { parent, attributes }, () => exchange(this.#deps, endpoint.receiver!, content))
  }

  #record(endpoint: Endpoint, result: AttemptResult, trace: string | undefined): void {
    const { error, total_ms } = result.respuesta
    this.#deps.metrics.intento(error, total_ms / 1_000, trace)
    const fault = endpoint.record(error === null)
    this.#settlement.add(result, endpoint.isHealthy)
    // The endpoint now gets one delivery at a time. Its waiting deliveries are read again in their turn.
    if (fault) this.#dropReady(endpoint)
  }

  // --- Settling results, and reading deliveries that a search has found ---

  #onSettled(group: readonly AttemptResult[], healthMayDiffer: boolean): void {
    const touched = new Set<Endpoint>()
    for (const { aviso, respuesta } of group) {
      const endpoint = this.#endpoints.de(aviso.webhook)
      if (endpoint) touched.add(endpoint)
      endpoint?.settle(aviso.evento, respuesta.error === null)
      this.#endpoints.forget(aviso.webhook, aviso.evento)
    }
    if (healthMayDiffer) this.#onHealthChanged([...touched])
    for (const endpoint of touched) this.#reader.consider(endpoint)
    this.#send()
  }

  /**
   * Reads the endpoints again and schedules their retries. The pause, state and failure count of the endpoints have
   * changed, and so have the due times of failed deliveries.
   */
  #onHealthChanged(endpoints: readonly Endpoint[]): void {
    for (const endpoint of endpoints) this.#endpoints.refresh(endpoint)
    const keys = endpoints.map(({ key }) => key)
    groupByPart(this.#deps.db, keys, ({ comercio_id }) => comercio_id).then((shards) => {
      for (const [, shardKeys] of shards)
        this.#retries
          .schedule(shardKeys)
          .then((dueKeys) => this.look(dueKeys), this.#logFailure('scheduling webhook retries failed'))
    }, this.#logFailure('scheduling webhook retries failed'))
  }

  #onRefreshed(endpoint: Endpoint): void {
    const now = this.#deps.clock()
    this.#dropReady(endpoint, (delivery) => !endpoint.accepts(delivery, now))
    this.#admission.queueLine(endpoint)
    this.#send()
  }

  /**
   * Reads the due deliveries of endpoints that a search found.
   * @returns true if one of them is new to this process: not held, or held with no delivery in memory
   */
  #onFound(keys: readonly WebhookKey[]): boolean {
    const newKeys = keys.filter(({ webhook }) => {
      const endpoint = this.#endpoints.de(webhook)
      // An endpoint with deliveries in memory is read again when one of these deliveries ends.
      endpoint?.announce()
      return !endpoint || (endpoint.inMemory.size === 0 && !endpoint.isReading)
    })
    this.look(newKeys)
    if (newKeys.length > 0) this.#deps.announceWork()
    return newKeys.length > 0
  }

  /** Removes a delivery whose exchange gave no result, and the waiting deliveries of its guide. */
  #giveBack(endpoint: Endpoint, aviso: ReadyDelivery): void {
    this.#dropReady(endpoint, ({ guia_id }) => guia_id === aviso.guia_id)
    endpoint.drop(aviso)
    this.#endpoints.forget(endpoint.key.webhook, aviso.evento)
  }

  /**
   * Removes the chosen waiting deliveries from memory, and with each all waiting deliveries of its guide. A later one
   * that stayed would be sent before it. They are read again from the database when the memory has room, or when the
   * endpoint may be sent requests again.
   */
  #dropReady(endpoint: Endpoint, isSelected: (delivery: ReadyDelivery) => boolean = () => true): void {
    const guias = new Set(endpoint.waiting.filter(isSelected).map(({ guia_id }) => guia_id))
    if (guias.size === 0) return
    for (const delivery of this.#admission.remove(endpoint, ({ guia_id }) => guias.has(guia_id)))
      endpoint.drop(delivery)
  }

  #scheduleRound(): void {
    this.#cancelRound = this.#deps.timers.after(ROUND_INTERVAL_MS, () => {
      this.#scheduleRound()
      this.#runRound()
    })
  }

  #runRound(): void {
    const now = this.#deps.timers.now()
    for (const endpoint of this.#endpoints.all()) {
      const isHung = endpoint.isHung(now, SLOW_AFTER_MS)
      this.#dropReady(endpoint, ({ desde }) => isHung || desde < now - MAX_MEMORY_WAIT_MS)
      if (!isHung) this.#reader.consider(endpoint)
      this.#admission.queueLine(endpoint)
    }
    this.#endpoints.maintain(now)
    this.#send()
  }

  #logFailure(message: string) {
    return (err: unknown) =>
      this.#deps.log[translateError(err).codigo === 'no_disponible' ? 'warn' : 'error']({ err }, message)
  }
}
