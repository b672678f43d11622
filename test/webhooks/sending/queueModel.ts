// A model of everything around the pump: its database, its queue of retries and its receivers, in virtual time. The pump
// is the service's own. Each answer of the database may be slow, so reads overlap with everything else.

import type { PgBoss } from 'pg-boss'
import type { RecentEvento } from '../../../server/domain/eventos/evento.ts'
import type { ExchangeResult } from '../../../server/domain/webhooks/attempt.ts'
import { FAILURES_TO_BRAKE, MIN_BRAKE } from '../../../server/domain/webhooks/schedule.ts'
import { encryptSecret } from '../../../server/domain/webhooks/secret.ts'
import { Pump } from '../../../server/domain/webhooks/sending/pump.ts'
import type { SendRequest } from '../../../server/domain/webhooks/sending/sender.ts'
import { createIdGenerator } from '../../../server/platform/codes/codes.ts'
import { createSecrets } from '../../../server/platform/secrets.ts'
import { HOUR_MS, MINUTE_MS } from '../../../server/platform/time/units.ts'
import { createRandom } from '../../random.ts'
import { VirtualTime } from './virtualTime.ts'

const MERCHANT = '00000000-0000-7000-8000-000000000001'
const START = Date.parse('2030-01-01T12:00:00Z')

/** A story: what happens in which order follows from it alone. */
export interface Story {
  seed: number
  processes: number
  endpoints: number
  guides: number
  /** Events of each guide. */
  events: number
  /** Milliseconds over which the events are written. */
  writing: number
  /** Milliseconds that a receiver takes. */
  receiver: number
  /** Milliseconds that a statement takes at most. */
  statement: number
  /** Of 100 exchanges, how many the receiver refuses. */
  refused: number
  /** Of 100 exchanges, how many end without a result. */
  broken: number
  /** What else happens, with its time in percent of {@link writing}. */
  incidents: readonly { kind: 'pause' | 'resume' | 'resend' | 'loseLease' | 'wake' | 'stop'; at: number }[]
}

interface Delivery {
  webhook: string
  guide: string
  sequence: number
  state: 'pendiente' | 'entregado' | 'fallido'
  cause: 'automatica' | 'manual'
  turn: number
  attempts: number
  due: number
  written: number
}

interface EndpointRow {
  webhook: string
  state: 'activo' | 'pausado'
  failures: number
  pausedUntil: number | null
}

/** What a story came to. */
export interface Outcome {
  /** First attempts that began before an earlier event of their guide had been tried. */
  disordered: string[]
  /** Exchanges that began while another of the same guide was in progress at the same endpoint. */
  overlapping: string[]
  /** Successful deliveries that were sent once more, although nobody asked. */
  repeated: string[]
  /** Deliveries that were still to be sent when the story ended. */
  undelivered: string[]
  exchanges: number
}

/** Plays a story to its end. */
export async function play(story: Story): Promise<Outcome> {
  const model = new QueueModel(story)
  return model.play()
}

class QueueModel {
  readonly #story: Story
  readonly #random: () => number
  readonly #time = new VirtualTime()
  readonly #deliveries = new Map<string, Delivery>()
  readonly #endpoints = new Map<string, EndpointRow>()
  readonly #pumps: (Pump | undefined)[] = []
  /** Processes with a heartbeat, and the leases by endpoint. */
  readonly #alive = new Set<string>()
  readonly #leases = new Map<string, { pump: string; claim: number }>()
  readonly #inProgress = new Set<string>()
  readonly #tried = new Map<string, 'delivered' | 'refused'>()
  readonly #outcome: Outcome = { disordered: [], overlapping: [], repeated: [], undelivered: [], exchanges: 0 }
  readonly #secrets = createSecrets([Buffer.alloc(32, 7)])
  readonly #clock = () => new Date(START + this.#time.now)
  readonly #ids = createIdGenerator(this.#clock)
  #written = 0

  constructor(story: Story) {
    this.#story = story
    this.#random = createRandom(story.seed)
  }

  async play(): Promise<Outcome> {
    const { processes, endpoints, guides, events, incidents, writing } = this.#story
    for (let n = 0; n < endpoints; n++) {
      const webhook = `wh_${n}`
      this.#endpoints.set(webhook, { webhook, state: 'activo', failures: 0, pausedUntil: null })
    }
    for (let n = 0; n < processes; n++) this.#pumps.push(this.#start(n))
    for (let g = 0; g < guides; g++) this.#writeGuide(`G${g}`)
    for (const { kind, at } of incidents) this.#time.after((at / 100) * writing, () => this.#happen(kind))
    const expected = guides * events
    const isOver = () =>
      this.#written === expected && [...this.#deliveries.values()].every((one) => !this.#isExpected(one))
    // What was paused goes on, and whatever was lost is found again.
    this.#time.after(writing + 10_000, () => {
      for (const endpoint of this.#endpoints.values()) endpoint.state = 'activo'
      for (const pump of this.#pumps) pump?.wake()
    })
    await this.#time.run(HOUR_MS, isOver)
    this.#outcome.undelivered = [...this.#deliveries.values()].filter((one) => this.#isExpected(one)).map(keyOf)
    await this.#stopAll()
    return this.#outcome
  }

  /** Returns true if the delivery should be sent soon: it is pending, and its next attempt is not far away. */
  #isExpected({ state, due }: Delivery): boolean {
    return state === 'pendiente' && due < this.#time.now + 2 * MINUTE_MS
  }

  // --- What merchants, couriers and operators do ---

  #writeGuide(guide: string): void {
    const { events, writing } = this.#story
    const times = Array.from({ length: events }, () => this.#random() * writing).sort((a, b) => a - b)
    for (const [i, at] of times.entries()) this.#time.after(at, () => this.#writeEvent(guide, i + 1))
  }

  #writeEvent(guide: string, sequence: number): void {
    this.#written++
    const keys = [...this.#endpoints.keys()].map((webhook) => ({ ...KEY, webhook }))
    for (const { webhook } of keys) {
      const { now } = this.#time
      const fresh = { turn: 0, attempts: 0, due: now, written: now }
      const delivery: Delivery = { webhook, guide, sequence, state: 'pendiente', cause: 'automatica', ...fresh }
      this.#deliveries.set(keyOf(delivery), delivery)
    }
    const writer = Math.floor(this.#random() * this.#pumps.length)
    const begun = this.#time.now
    this.#time.after(this.#latency(), () => {
      const webhooks = keys.map(({ webhook }) => webhook)
      this.#pumps[writer]?.receive([recentEvent(guide, sequence, webhooks, this.#clock(), begun)])
      for (const [n, pump] of this.#pumps.entries()) if (n !== writer) pump?.look(keys, true)
    })
  }

  #happen(kind: Story['incidents'][number]['kind']): void {
    const endpoint = this.#pick([...this.#endpoints.values()])
    if (kind === 'pause') endpoint.state = 'pausado'
    if (kind === 'resume') endpoint.state = 'activo'
    if (kind === 'resend') this.#resend(endpoint.webhook)
    if (kind === 'loseLease' && this.#story.processes === 1) this.#loseLease(endpoint.webhook)
    if (kind === 'stop' && this.#pumps.filter(Boolean).length > 1) this.#stopOne()
    for (const pump of this.#pumps) {
      pump?.wake()
      pump?.look([{ ...KEY, webhook: endpoint.webhook }])
    }
  }

  #resend(webhook: string): void {
    const ended = [...this.#deliveries.values()].filter((one) => one.webhook === webhook && one.state !== 'pendiente')
    if (ended.length === 0) return
    Object.assign(this.#pick(ended), { state: 'pendiente', cause: 'manual', due: ON_REQUEST })
  }

  /** Declares the process of an endpoint dead, or takes its lease alone, as a database restored to an earlier state does. */
  #loseLease(webhook: string): void {
    const lease = this.#leases.get(webhook)
    if (!lease) return
    this.#leases.delete(webhook)
    if (this.#random() < 0.5) this.#bury(lease.pump)
  }

  #bury(pump: string): void {
    this.#alive.delete(pump)
    for (const webhook of this.#leasesOf(pump)) this.#leases.delete(webhook)
  }

  #stopOne(): void {
    const n = this.#pumps.findIndex(Boolean)
    const pump = this.#pumps[n]!
    this.#pumps[n] = undefined
    void pump.stop()
  }

  async #stopAll(): Promise<void> {
    const stopped = Promise.all(this.#pumps.map((pump) => pump?.stop()))
    let isStopped = false
    void stopped.then(() => {
      isStopped = true
    })
    await this.#time.run(2 * HOUR_MS, () => isStopped)
  }

  #pick<T>(some: readonly T[]): T {
    return some[Math.floor(this.#random() * some.length)]!
  }

  // --- The process around a pump ---

  #start(n: number): Pump {
    const db = this.#database()
    const silent = () => {}
    const log = { info: silent, warn: silent, debug: silent, error: this.#fail }
    const deps = {
      db,
      noWaitDb: db,
      log,
      clock: this.#clock,
      timers: this.#time.timers,
      newId: this.#ids,
      random: this.#random,
      secretos: this.#secrets,
      wake: silent,
      announceWork: silent,
      destinations: { loopback: { live: true, test: true }, resolver: undefined },
      metrics: { intento: silent, aviso: silent },
      sender: { send: (request: SendRequest) => this.#exchange(request), close: async () => {} },
      signalWebhooks: (keys: Parameters<Pump['look']>[0]) => {
        this.#time.after(1, () => {
          for (const [other, pump] of this.#pumps.entries()) if (other !== n) pump?.look(keys, true)
        })
      },
    }
    return new Pump(this.#queue(n) as unknown as PgBoss, deps as unknown as ConstructorParameters<typeof Pump>[1])
  }

  readonly #fail = ({ err }: { err: unknown }): void => {
    if (!(err instanceof BrokenExchange)) throw err
  }

  #queue(n: number) {
    return {
      insert: async (_queue: string, jobs: readonly { startAfter?: number }[]) => {
        await this.#pass()
        for (const { startAfter = 0 } of jobs) this.#time.after(startAfter * 1_000, () => this.#pumps[n]?.wake())
      },
    }
  }

  // --- The database ---

  #latency(): number {
    return 1 + this.#random() ** 3 * this.#story.statement
  }

  #pass(): Promise<void> {
    return this.#time.sleep(this.#latency())
  }

  #database() {
    const ask = async (name: string, values: Record<string, unknown>) => {
      await this.#pass()
      const rows = this.#answer(name, values)
      await this.#pass()
      return rows
    }
    const query = ({ name }: { name: string }, values: Record<string, unknown>) => ask(name, values)
    const client = {
      query: async (config: string | { name: string; values: Record<string, unknown> }) =>
        typeof config === 'string' ? {} : { rows: await ask(config.name, config.values) },
      release: () => {},
    }
    const connections = {
      afterMigration: (act: () => unknown) => act(),
      connect: async () => client,
      begin: () => 'begin',
      call: (_scope: unknown, config: unknown) => config,
    }
    const pool = { atPlace: (_place: unknown, act: (there: unknown) => unknown) => act(connections) }
    const db = { query, pool, parts: () => [db] }
    return db
  }

  #answer(name: string, values: Record<string, unknown>): unknown[] {
    const first = () => JSON.parse((Array.isArray(values) ? values[0] : Object.values(values)[0]) as string)
    switch (name) {
      case 'webhooks.readReceivers':
        return first().map(({ webhook }: EndpointRow) => this.#receiverRow(webhook))
      case 'avisos.read':
        return first().flatMap((asked: Asked) => this.#due(asked))
      case 'avisos.findDue':
        return [...this.#endpoints.keys()]
          .filter((webhook) => this.#pending(webhook).length > 0)
          .map((webhook, i) => ({ ...KEY, webhook, n: i + 1, due: this.#due({ ...ANY, webhook }).length > 0 }))
      case 'avisos.nextDue':
        return first().flatMap(({ webhook }: EndpointRow) => this.#next(webhook))
      case 'leases.register':
        this.#alive.add(values.pump as string)
        return []
      case 'leases.beat':
        return this.#alive.has(values.pump as string) ? [{ leases: this.#leasesOf(values.pump as string).length }] : []
      case 'leases.claim':
        return [this.#claim(values as unknown as Claim)]
      case 'leases.release':
        this.#release(values as unknown as Release)
        return []
      case 'leases.end':
        this.#bury(values.pump as string)
        return []
      case 'avisos.settleSuccesses':
        return this.#settleSuccesses(values as unknown as Successes)
      case 'avisos.settleAttempts':
        return first().filter((one: Settled) => this.#settle(one))
      case 'webhooks.updateHealth':
        for (const health of first()) this.#setHealth(health)
        return []
      default:
        throw new Error(`the model has no statement ${name}`)
    }
  }

  #pending(webhook: string): Delivery[] {
    return [...this.#deliveries.values()].filter((one) => one.webhook === webhook && one.state === 'pendiente')
  }

  /** Plays the statement `avisos.read` for one endpoint. */
  #due({ n, webhook, count, salvo }: Asked) {
    const { state, failures, pausedUntil } = this.#endpoints.get(webhook)!
    const { now } = this.#time
    const until = state === 'activo' && (pausedUntil === null || pausedUntil <= now) ? now : ON_REQUEST
    return this.#pending(webhook)
      .filter((one) => one.due <= until && !salvo.includes(eventOf(one)))
      .sort((a, b) => a.due - b.due || compare(a.guide, b.guide) || a.sequence - b.sequence)
      .slice(0, failures >= FAILURES_TO_BRAKE ? 1 : count)
      .map((one) => ({ n, ...rowOf(one) }))
  }

  #next(webhook: string) {
    const { state, pausedUntil } = this.#endpoints.get(webhook)!
    const dues = this.#pending(webhook).map(({ due }) => due)
    if (state !== 'activo' || dues.length === 0) return []
    return [{ ...KEY, webhook, en: new Date(START + Math.max(Math.min(...dues), pausedUntil ?? 0, this.#time.now)) }]
  }

  #leasesOf(pump: string): string[] {
    return [...this.#leases.keys()].filter((webhook) => this.#leases.get(webhook)!.pump === pump)
  }

  #claim({ pump, claim, webhooks }: Claim) {
    const isAlive = this.#alive.has(pump)
    const claimed = isAlive ? webhooks.filter((webhook) => (this.#leases.get(webhook)?.pump ?? pump) === pump) : []
    for (const webhook of claimed) this.#leases.set(webhook, { pump, claim })
    return { isAlive, claimed }
  }

  #release({ pump, webhooks, claims }: Release): void {
    for (const [i, webhook] of webhooks.entries()) {
      const lease = this.#leases.get(webhook)
      if (lease?.pump === pump && lease.claim === claims[i]) this.#leases.delete(webhook)
    }
  }

  #receiverRow(webhook: string) {
    const { state, failures, pausedUntil } = this.#endpoints.get(webhook)!
    const cifrado = encryptSecret(this.#secrets, { webhook, version: 1 }, Buffer.alloc(24, 1))
    return {
      ...KEY,
      webhook,
      url: 'http://127.0.0.1:9/',
      estado: state,
      comprobado_en: new Date(START),
      fallas: failures,
      freno_vence_en: pausedUntil === null ? null : new Date(START + pausedUntil),
      versions: [1],
      ciphertexts: [cifrado],
      expirations: [null],
    }
  }

  #settleSuccesses({ webhooks, indexes, guias, secuencias, turns }: Successes) {
    return guias.flatMap((guide, i) => {
      const delivery = this.#deliveries.get(
        keyOf({ webhook: webhooks[indexes[i]! - 1]!, guide, sequence: secuencias[i]! }),
      )!
      if (delivery.state !== 'pendiente' || delivery.turn !== turns[i] || delivery.attempts > 0) return [{ n: i + 1 }]
      this.#end(delivery, 'entregado')
      return []
    })
  }

  #settle({ webhook, guia_id, secuencia, turno, outcome, proximo_en }: Settled): boolean {
    const delivery = this.#deliveries.get(keyOf({ webhook, guide: guia_id, sequence: secuencia }))!
    if (delivery.state !== 'pendiente') return true
    if (delivery.turn !== turno && (outcome !== 'entregado' || delivery.cause === 'manual')) return true
    this.#end(delivery, outcome)
    if (proximo_en !== null) delivery.due = Date.parse(proximo_en) - START
    return true
  }

  #end(delivery: Delivery, state: Delivery['state']): void {
    delivery.state = state
    delivery.turn++
    delivery.attempts++
  }

  #setHealth({ webhook, succeeded, new_failures: newFailures }: Health): void {
    const endpoint = this.#endpoints.get(webhook)!
    endpoint.failures = succeeded ? 0 : endpoint.failures + newFailures
    endpoint.pausedUntil = endpoint.failures >= FAILURES_TO_BRAKE ? this.#time.now + MIN_BRAKE : null
  }

  // --- The receivers ---

  async #exchange({ canal: webhook, cuerpo: body }: SendRequest): Promise<ExchangeResult> {
    const { id } = JSON.parse(body) as { id: string }
    const [, guide, text] = id.split('_') as [string, string, string]
    const delivery = this.#deliveries.get(keyOf({ webhook, guide, sequence: Number(text) }))!
    this.#check(delivery)
    const begun = this.#time.now
    const place = `${webhook} ${guide}`
    this.#inProgress.add(place)
    await this.#time.sleep(this.#story.receiver * (0.5 + this.#random()))
    this.#inProgress.delete(place)
    const chance = 100 * this.#random()
    if (chance < this.#story.broken) throw new BrokenExchange()
    const isRefused = chance < this.#story.broken + this.#story.refused
    this.#tried.set(keyOf(delivery), isRefused ? 'refused' : 'delivered')
    const status = isRefused ? 500 : 204
    return {
      status,
      error: isRefused ? 'http' : null,
      detalle: null,
      cabeceras: {},
      cuerpo: '',
      cuerpo_truncado: false,
      retry_after: null,
      ip: null,
      dns_ms: null,
      conexion_ms: null,
      tls_ms: null,
      primer_byte_ms: null,
      total_ms: this.#time.now - begun,
    }
  }

  #check(delivery: Delivery): void {
    const { webhook, guide, sequence, cause } = delivery
    const key = keyOf(delivery)
    this.#outcome.exchanges++
    if (this.#inProgress.has(`${webhook} ${guide}`)) this.#outcome.overlapping.push(key)
    const before = this.#tried.get(key)
    if (before === 'delivered' && cause === 'automatica') this.#outcome.repeated.push(key)
    if (before !== undefined) return
    for (let earlier = 1; earlier < sequence; earlier++) {
      const other = keyOf({ webhook, guide, sequence: earlier })
      if (!this.#tried.has(other)) this.#outcome.disordered.push(`${key} before ${other}`)
    }
  }
}

/** An exchange that ends without a result. */
class BrokenExchange extends Error {}

interface Asked {
  n: number
  webhook: string
  count: number
  salvo: readonly string[]
}

interface Claim {
  pump: string
  claim: number
  webhooks: string[]
}

interface Release {
  pump: string
  webhooks: string[]
  claims: number[]
}

interface Successes {
  webhooks: string[]
  indexes: number[]
  guias: string[]
  secuencias: number[]
  turns: number[]
}

interface Settled {
  webhook: string
  guia_id: string
  secuencia: number
  turno: number
  outcome: Delivery['state']
  proximo_en: string | null
}

interface Health {
  webhook: string
  succeeded: boolean
  new_failures: number
}

const KEY = { comercio_id: MERCHANT, modo: 'test' } as const
const ANY = { n: 0, count: 1, salvo: [] }
/** Due time of what is sent on request: the epoch, in milliseconds of the model's time. */
const ON_REQUEST = -START

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))
const keyOf = ({ webhook, guide, sequence }: Pick<Delivery, 'webhook' | 'guide' | 'sequence'>) =>
  `${webhook} ${guide} ${sequence}`
const eventOf = ({ guide, sequence }: Delivery) => `evt_${guide}_${sequence}`

/** Row of `avisos.read`. It has its data with it, so its body needs no guide. */
function rowOf({ guide, sequence, cause, turn, attempts, due, written }: Delivery) {
  const event = `evt_${guide}_${sequence}`
  const counts = { x_turno: turn, x_intento: attempts, x_intentos: attempts }
  return {
    x_guia_id: guide,
    x_secuencia: sequence,
    x_evento: event,
    x_tipo: 'guia.corregida',
    x_causa: cause,
    ...counts,
    x_proximo_en: new Date(START + due),
    x_datos: { webhook: {} },
    x_creado_en: new Date(START + written),
  }
}

function recentEvent(guide: string, sequence: number, webhooks: string[], now: Date, begun: number): RecentEvento {
  const both = {
    ...KEY,
    guia: guide,
    estado: 'aceptado',
    secuencia: sequence,
    external_ref: null,
    lat: null,
    lng: null,
  }
  const row = {
    ...both,
    id: guide,
    recogida: {},
    metadatos: null,
    advertencias: [],
    creado_en: now,
    actualizado_en: now,
    estado_en: now,
    intentos: 0,
  }
  const event = { ...both, guia_id: guide, tipo: 'guia.corregida', ocurrido_en: now, registrado_en: now, datos: null }
  return { guia: row, evento: event, webhooks, desde: begun } as unknown as RecentEvento
}
