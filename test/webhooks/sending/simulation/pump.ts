import { FAILURES_TO_BRAKE, MAX_BRAKE, MIN_BRAKE, nextAttempt } from '../../../../server/domain/webhooks/schedule.ts'
import {
  Admission,
  type AdmissionTurn,
  DeliveryLine,
  type Waiting,
} from '../../../../server/domain/webhooks/sending/admission.ts'
import { Hosts } from '../../../../server/domain/webhooks/sending/hosts.ts'
import {
  MAX_CONCURRENT_READS,
  MAX_CONCURRENT_SETTLEMENTS,
  MAX_ENDPOINTS_PER_READ,
  MAX_EXCHANGES_PER_WEBHOOK,
  MAX_PENDING_RESULTS,
  MAX_RESULTS_PER_SETTLEMENT,
  MAX_WAITING,
  READ_MORE_AT,
  SETTLEMENT_DELAY_MS,
  SLOW_AFTER_MS,
} from '../../../../server/domain/webhooks/sending/limits.ts'
import { EXCHANGE_TIMEOUT_MS } from '../../../../server/domain/webhooks/sending/sender.ts'
import type { Machine, SimulatedThread, Tiempo } from './virtualTime.ts'

/** Simulated delivery; the simulation's database keeps it until it ends. */
export interface EntregaSimulada extends Waiting {
  readonly createdAt: number
  intentos: number
  /** First arrival at the receiver that the receiver accepted, in milliseconds of virtual time. */
  receivedAt?: number
  /** Times that the receiver accepted the delivery. */
  times: number
  outcome?: 'entregada' | 'fallida'
}

/**
 * Behaviour of a receiver: milliseconds until it answers, and if the answer is a success. More milliseconds than
 * {@link EXCHANGE_TIMEOUT_MS} mean that it never answers.
 */
export type ReceiverModel = (random: () => number, now: number) => { ms: number; succeeded: boolean }

/** Simulated endpoint as the database has it: its due deliveries and its failures. */
export interface Punto {
  readonly comercio: string
  readonly host: string
  readonly responder: ReceiverModel
  /** Due deliveries that no process has read, oldest first. */
  readonly due: EntregaSimulada[]
  fallas: number
  brakedUntil: number
  /** True after the first failed attempt. */
  hasFailed: boolean
  owner?: Bomba
}

/**
 * Costs of one delivery in milliseconds of CPU: of the sending thread, of its helper threads (garbage collection and
 * compilation in V8), of PostgreSQL and of the receiver. `disco` is the wait of a commit.
 */
export interface ProcessCosts {
  sending: number
  helpers: number
  postgres: number
  receptor: number
  disco: number
}

/** Environment of a simulated process: virtual clock, random numbers, costs, PostgreSQL and the receiver. */
export interface World {
  tiempo: Tiempo
  random: () => number
  costs: ProcessCosts
  /** Returns the connection of PostgreSQL with the shortest queue. */
  postgres: () => SimulatedThread
  receptor: SimulatedThread
  onReceived: (entrega: EntregaSimulada, point: Punto) => void
}

class PointLine extends DeliveryLine<EntregaSimulada> {
  unread = true
  reading = false
  readonly point: Punto

  constructor(point: Punto, part: DeliveryLine['share']) {
    super(part)
    this.point = point
  }
}

/**
 * Simulated process that sends webhooks, in virtual time. The service's own code decides the order of sending (`Admission`,
 * `Hosts`, the schedule of attempts). Reading, settling and the network are models with the service's bounds.
 */
export class Bomba {
  readonly #world: World
  readonly #thread: SimulatedThread
  readonly #helpers: SimulatedThread
  readonly #admission = new Admission<EntregaSimulada, PointLine>()
  readonly #hosts: Hosts<PointLine>
  readonly #rows = new Map<Punto, PointLine>()
  readonly #toRead = new Set<PointLine>()
  /** Deliveries that the process has read and not settled. */
  readonly #unsettled = new Map<EntregaSimulada, Punto>()
  readonly #results: { line: PointLine; aviso: EntregaSimulada; succeeded: boolean }[] = []
  #scans = 0
  #groups = 0
  #settling = 0
  #isGathering = false
  isAlive = true

  constructor(world: World, machine: Machine) {
    this.#world = world
    this.#thread = machine.thread()
    this.#helpers = machine.thread()
    this.#hosts = new Hosts(() => world.tiempo.now)
  }

  /** Takes the lease of an endpoint. */
  take(point: Punto): void {
    point.owner = this
    const line = new PointLine(point, this.#admission.open(point.comercio))
    line.limit = point.fallas >= FAILURES_TO_BRAKE ? 1 : MAX_EXCHANGES_PER_WEBHOOK
    this.#rows.set(point, line)
    this.#request(line)
  }

  /** Tells the process that an endpoint has due deliveries. */
  notifyDue(point: Punto): void {
    const line = this.#rows.get(point)
    if (!line) return
    this.#admission.queueLine(line)
    this.#send()
    this.#request(line)
  }

  /**
   * Kills the process. Its unsettled deliveries become due again.
   * @returns the endpoints that the process held
   */
  die(): readonly Punto[] {
    this.isAlive = false
    for (const [entrega, point] of this.#unsettled) point.due.push(entrega)
    const puntos = [...this.#rows.keys()]
    for (const point of puntos) {
      delete point.owner
      point.due.sort((a, b) => a.createdAt - b.createdAt || a.secuencia - b.secuencia)
    }
    return puntos
  }

  #request(line: PointLine): void {
    line.unread = true
    this.#considerReading(line)
  }

  #considerReading(line: PointLine): void {
    const { tiempo } = this.#world
    if (this.#toRead.size > 0) this.#read()
    if (!line.unread || line.reading || line.waiting.length > READ_MORE_AT) return
    if (line.isHung(tiempo.now, SLOW_AFTER_MS)) return
    this.#toRead.add(line)
    this.#read()
  }

  #read(): void {
    if (this.#scans >= MAX_CONCURRENT_READS || !this.isAlive) return
    const reads: { line: PointLine; count: number }[] = []
    const perLine = Math.max(MAX_EXCHANGES_PER_WEBHOOK, Math.ceil(MAX_WAITING / this.#toRead.size))
    for (const line of [...this.#toRead].slice(0, MAX_ENDPOINTS_PER_READ)) {
      this.#toRead.delete(line)
      if (line.reading) continue
      const count = this.#admission.reserve(line, perLine)
      if (count > 0) {
        line.reading = true
        line.unread = false
        reads.push({ line, count })
      } else if (line.limit > 1) this.#toRead.add(line)
    }
    if (reads.length === 0) return
    this.#scans++
    const readEntregas = reads.map(({ line, count }) => line.point.due.splice(0, count))
    for (const [i, { line }] of reads.entries())
      for (const entrega of readEntregas[i]!) this.#unsettled.set(entrega, line.point)
    const rowCount = readEntregas.reduce((sum, pointEntregas) => sum + pointEntregas.length, 0)
    const { postgres, costs } = this.#world
    postgres().perform((rowCount * costs.postgres) / 2, () => {
      if (!this.isAlive) return
      this.#scans--
      for (const [i, { line, count }] of reads.entries()) this.#takeRead(line, count, readEntregas[i]!)
      this.#send()
      for (const { line } of reads) if (line.limit > 1) this.#considerReading(line)
    })
  }

  #takeRead(line: PointLine, count: number, readEntregas: readonly EntregaSimulada[]): void {
    this.#admission.unreserve(line, count)
    line.reading = false
    if (readEntregas.length >= count) line.unread = true
    const { now } = this.#world.tiempo
    for (const entrega of readEntregas) this.#admission.add(line, Object.assign(entrega, { desde: now }))
  }

  #send(): void {
    const { tiempo, costs } = this.#world
    const puede = (line: PointLine) => {
      if (line.point.brakedUntil > tiempo.now) return false
      return this.#hosts.maySend(this.#sendingOf(line), line)
    }
    while (this.isAlive && this.#results.length + this.#settling < MAX_PENDING_RESULTS) {
      const turno = this.#admission.take(tiempo.now, puede)
      if (!turno) return
      this.#hosts.start(this.#sendingOf(turno.line))
      this.#thread.perform(costs.sending / 2, () => this.#startExchange(turno))
      if (costs.helpers > 0) this.#helpers.perform(costs.helpers, () => {})
    }
  }

  #sendingOf({ point }: PointLine) {
    return { host: point.host, comercio: point.comercio, verified: true, isTest: false }
  }

  #startExchange(turno: AdmissionTurn<EntregaSimulada, PointLine>): void {
    const { tiempo, random, costs, receptor, onReceived } = this.#world
    const { ms, succeeded } = turno.line.point.responder(random, tiempo.now)
    const exchangeMs = Math.min(ms, EXCHANGE_TIMEOUT_MS)
    // A random part of the time passes before the arrival, so that deliveries may overtake each other.
    const outboundMs = random() * exchangeMs
    const recibir = () => {
      if (succeeded && ms < EXCHANGE_TIMEOUT_MS) {
        turno.aviso.times++
        turno.aviso.receivedAt ??= tiempo.now
        onReceived(turno.aviso, turno.line.point)
      } else turno.line.point.hasFailed = true
      tiempo.after(exchangeMs - outboundMs, () =>
        this.#thread.perform(costs.sending / 2, () => this.#finish(turno, succeeded && ms < EXCHANGE_TIMEOUT_MS)),
      )
    }
    tiempo.after(outboundMs, () => receptor.perform(costs.receptor, recibir))
  }

  #finish(turno: AdmissionTurn<EntregaSimulada, PointLine>, succeeded: boolean): void {
    const { line, aviso: entrega } = turno
    const { tiempo } = this.#world
    if (!this.isAlive) return
    this.#admission.finish(turno, tiempo.now)
    for (const otherLine of this.#hosts.finish(this.#sendingOf(line), succeeded)) this.#admission.queueLine(otherLine)
    const { point } = line
    point.fallas = succeeded ? 0 : point.fallas + 1
    line.limit = point.fallas >= FAILURES_TO_BRAKE ? 1 : MAX_EXCHANGES_PER_WEBHOOK
    if (point.fallas >= FAILURES_TO_BRAKE) {
      const brakeMs = Math.min(MAX_BRAKE, MIN_BRAKE * 2 ** (point.fallas - FAILURES_TO_BRAKE))
      point.brakedUntil = tiempo.now + brakeMs
      const fuera = this.#admission.remove(line)
      for (const removedEntrega of fuera) this.#unsettled.delete(removedEntrega)
      point.due.unshift(...fuera)
      tiempo.after(brakeMs, () => point.owner?.notifyDue(point))
    }
    this.#results.push({ line, aviso: entrega, succeeded })
    if (this.#results.length >= MAX_RESULTS_PER_SETTLEMENT) this.#settle()
    else if (!this.#isGathering) {
      this.#isGathering = true
      tiempo.after(SETTLEMENT_DELAY_MS, () => this.#settle())
    }
    this.#send()
    this.#considerReading(line)
  }

  #settle(): void {
    this.#isGathering = false
    const { tiempo, postgres, costs } = this.#world
    while (this.#results.length > 0 && this.#groups < MAX_CONCURRENT_SETTLEMENTS) {
      const group = this.#results.splice(0, MAX_RESULTS_PER_SETTLEMENT)
      this.#groups++
      this.#settling += group.length
      postgres().perform((group.length * costs.postgres) / 2, () =>
        tiempo.after(costs.disco, () => {
          if (!this.isAlive) return
          this.#groups--
          this.#settling -= group.length
          for (const { line, aviso: entrega, succeeded } of group) this.#close(line, entrega, succeeded)
          this.#settle()
          this.#send()
        }),
      )
    }
  }

  #close(line: PointLine, entrega: EntregaSimulada, succeeded: boolean): void {
    const { tiempo, random } = this.#world
    this.#unsettled.delete(entrega)
    entrega.intentos++
    if (succeeded) entrega.outcome = 'entregada'
    else {
      const proximo = nextAttempt(entrega.intentos, new Date(tiempo.now), null, random())
      if (!proximo) entrega.outcome = 'fallida'
      else
        tiempo.after(proximo.getTime() - tiempo.now, () => {
          line.point.due.push(entrega)
          line.point.owner?.notifyDue(line.point)
        })
    }
    this.#considerReading(line)
  }
}
