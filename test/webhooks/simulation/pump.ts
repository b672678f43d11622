import {
  Admission,
  type AdmissionTurn,
  DeliveryLine,
  IN_FLIGHT_PER_WEBHOOK,
  MAX_WAITING,
  SLOW_AFTER,
  type Waiting,
} from '../../../server/domain/webhooks/admission.ts'
import { READS_AT_ONCE as LECTURAS, PER_READ, READ_THRESHOLD } from '../../../server/domain/webhooks/dueReader.ts'
import { Hosts } from '../../../server/domain/webhooks/hosts.ts'
import { FAILURES_TO_BRAKE, MAX_BRAKE, MIN_BRAKE, nextAttempt } from '../../../server/domain/webhooks/schedule.ts'
import { EXCHANGE_TIMEOUT } from '../../../server/domain/webhooks/sender.ts'
import {
  SETTLEMENTS_AT_ONCE as ASIENTOS,
  GATHERING_MS,
  MANY_PENDING,
  SETTLEMENT_GROUP,
} from '../../../server/domain/webhooks/settlement.ts'
import type { Maquina, SimulatedThread, Tiempo } from './virtualTime.ts'

/** Simulated delivery; the simulation's database keeps it until it ends. */
export interface EntregaSimulada extends Waiting {
  readonly createdAt: number
  intentos: number
  /** First arrival at the receiver that the receiver accepted, in milliseconds of virtual time. */
  receivedAt?: number
  /** Times that the receiver accepted the delivery. */
  times: number
  terminada?: 'entregada' | 'fallida'
}

/**
 * Behaviour of a receiver: milliseconds until it answers, and if the answer is a success. More milliseconds than
 * {@link EXCHANGE_TIMEOUT} mean that it never answers.
 */
export type Comportamiento = (azar: () => number, ahora: number) => { ms: number; succeeded: boolean }

/** Simulated endpoint as the database has it: its due deliveries and its failures. */
export interface Punto {
  readonly comercio: string
  readonly host: string
  readonly responder: Comportamiento
  /** Due deliveries that no process has read, oldest first. */
  readonly due: EntregaSimulada[]
  fallas: number
  frenadoHasta: number
  /** True after the first failed attempt. */
  hasFailed: boolean
  duena?: Bomba
}

/**
 * Costs of one delivery in milliseconds of CPU: of the sending thread, of its helper threads (garbage collection and
 * compilation in V8), of PostgreSQL and of the receiver. `disco` is the wait of a commit.
 */
export interface Costos {
  sending: number
  helpers: number
  postgres: number
  receptor: number
  disco: number
}

/** Environment of a simulated process: virtual clock, random numbers, costs, PostgreSQL and the receiver. */
export interface Mundo {
  tiempo: Tiempo
  random: () => number
  costs: Costos
  /** Returns the connection of PostgreSQL with the shortest queue. */
  postgres: () => SimulatedThread
  receptor: SimulatedThread
  onReceived: (entrega: EntregaSimulada, punto: Punto) => void
}

class PointLine extends DeliveryLine<EntregaSimulada> {
  porLeer = true
  reading = false
  readonly point: Punto

  constructor(punto: Punto, parte: DeliveryLine['share']) {
    super(parte)
    this.point = punto
  }
}

/**
 * Simulated process that sends webhooks, in virtual time. The service's own code decides the order of sending (`Admission`,
 * `Hosts`, the schedule of attempts). Reading, settling and the network are models with the service's bounds.
 */
export class Bomba {
  readonly #mundo: Mundo
  readonly #hilo: SimulatedThread
  readonly #helpers: SimulatedThread
  readonly #admission = new Admission<EntregaSimulada, PointLine>()
  readonly #hosts: Hosts<PointLine>
  readonly #rows = new Map<Punto, PointLine>()
  readonly #toRead = new Set<PointLine>()
  /** Deliveries that the process has read and not settled. */
  readonly #tenidas = new Map<EntregaSimulada, Punto>()
  readonly #resultados: { line: PointLine; aviso: EntregaSimulada; succeeded: boolean }[] = []
  #scans = 0
  #groups = 0
  #settling = 0
  #isGathering = false
  isAlive = true

  constructor(mundo: Mundo, maquina: Maquina) {
    this.#mundo = mundo
    this.#hilo = maquina.thread()
    this.#helpers = maquina.thread()
    this.#hosts = new Hosts(() => mundo.tiempo.ahora)
  }

  /** Takes the lease of an endpoint. */
  take(punto: Punto): void {
    punto.duena = this
    const line = new PointLine(punto, this.#admission.open(punto.comercio))
    line.limit = punto.fallas >= FAILURES_TO_BRAKE ? 1 : IN_FLIGHT_PER_WEBHOOK
    this.#rows.set(punto, line)
    this.#request(line)
  }

  /** Tells the process that an endpoint has due deliveries. */
  mirar(punto: Punto): void {
    const line = this.#rows.get(punto)
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
    for (const [entrega, punto] of this.#tenidas) punto.due.push(entrega)
    const puntos = [...this.#rows.keys()]
    for (const punto of puntos) {
      delete punto.duena
      punto.due.sort((a, b) => a.createdAt - b.createdAt || a.secuencia - b.secuencia)
    }
    return puntos
  }

  #request(line: PointLine): void {
    line.porLeer = true
    this.#considerar(line)
  }

  #considerar(line: PointLine): void {
    const { tiempo } = this.#mundo
    if (this.#toRead.size > 0) this.#leer()
    if (!line.porLeer || line.reading || line.waiting.length > READ_THRESHOLD) return
    if (line.isHung(tiempo.ahora, SLOW_AFTER)) return
    this.#toRead.add(line)
    this.#leer()
  }

  #leer(): void {
    if (this.#scans >= LECTURAS || !this.isAlive) return
    const reads: { line: PointLine; count: number }[] = []
    const perLine = Math.max(IN_FLIGHT_PER_WEBHOOK, Math.ceil(MAX_WAITING / this.#toRead.size))
    for (const line of [...this.#toRead].slice(0, PER_READ)) {
      this.#toRead.delete(line)
      if (line.reading) continue
      const count = this.#admission.reserve(line, perLine)
      if (count > 0) {
        line.reading = true
        line.porLeer = false
        reads.push({ line, count })
      } else if (line.limit > 1) this.#toRead.add(line)
    }
    if (reads.length === 0) return
    this.#scans++
    const readEntregas = reads.map(({ line, count }) => line.point.due.splice(0, count))
    for (const [i, { line }] of reads.entries())
      for (const entrega of readEntregas[i]!) this.#tenidas.set(entrega, line.point)
    const rowCount = readEntregas.reduce((suma, pointEntregas) => suma + pointEntregas.length, 0)
    const { postgres, costs: costos } = this.#mundo
    postgres().perform((rowCount * costos.postgres) / 2, () => {
      if (!this.isAlive) return
      this.#scans--
      for (const [i, { line, count }] of reads.entries()) this.#traer(line, count, readEntregas[i]!)
      this.#send()
      for (const { line } of reads) if (line.limit > 1) this.#considerar(line)
    })
  }

  #traer(line: PointLine, count: number, readEntregas: readonly EntregaSimulada[]): void {
    this.#admission.unreserve(line, count)
    line.reading = false
    if (readEntregas.length >= count) line.porLeer = true
    const { ahora } = this.#mundo.tiempo
    for (const entrega of readEntregas) this.#admission.add(line, Object.assign(entrega, { desde: ahora }))
  }

  #send(): void {
    const { tiempo, costs: costos } = this.#mundo
    const puede = (line: PointLine) => {
      if (line.point.frenadoHasta > tiempo.ahora) return false
      return this.#hosts.maySend(this.#sendingOf(line), line)
    }
    while (this.isAlive && this.#resultados.length + this.#settling < MANY_PENDING) {
      const turno = this.#admission.take(tiempo.ahora, puede)
      if (!turno) return
      this.#hosts.start(this.#sendingOf(turno.linea))
      this.#hilo.perform(costos.sending / 2, () => this.#mandar(turno))
      if (costos.helpers > 0) this.#helpers.perform(costos.helpers, () => {})
    }
  }

  #sendingOf({ point: punto }: PointLine) {
    return { host: punto.host, comercio: punto.comercio, verified: true, isTest: false }
  }

  #mandar(turno: AdmissionTurn<EntregaSimulada, PointLine>): void {
    const { tiempo, random: azar, costs: costos, receptor, onReceived } = this.#mundo
    const { ms, succeeded } = turno.linea.point.responder(azar, tiempo.ahora)
    const tarda = Math.min(ms, EXCHANGE_TIMEOUT)
    // A random part of the time passes before the arrival, so that deliveries may overtake each other.
    const camino = azar() * tarda
    const recibir = () => {
      if (succeeded && ms < EXCHANGE_TIMEOUT) {
        turno.aviso.times++
        turno.aviso.receivedAt ??= tiempo.ahora
        onReceived(turno.aviso, turno.linea.point)
      } else turno.linea.point.hasFailed = true
      tiempo.after(tarda - camino, () =>
        this.#hilo.perform(costos.sending / 2, () => this.#finish(turno, succeeded && ms < EXCHANGE_TIMEOUT)),
      )
    }
    tiempo.after(camino, () => receptor.perform(costos.receptor, recibir))
  }

  #finish(turno: AdmissionTurn<EntregaSimulada, PointLine>, succeeded: boolean): void {
    const { linea: line, aviso: entrega } = turno
    const { tiempo } = this.#mundo
    if (!this.isAlive) return
    this.#admission.finish(turno, tiempo.ahora)
    for (const otherLine of this.#hosts.finish(this.#sendingOf(line), succeeded)) this.#admission.queueLine(otherLine)
    const { point: punto } = line
    punto.fallas = succeeded ? 0 : punto.fallas + 1
    line.limit = punto.fallas >= FAILURES_TO_BRAKE ? 1 : IN_FLIGHT_PER_WEBHOOK
    if (punto.fallas >= FAILURES_TO_BRAKE) {
      const pausa = Math.min(MAX_BRAKE, MIN_BRAKE * 2 ** (punto.fallas - FAILURES_TO_BRAKE))
      punto.frenadoHasta = tiempo.ahora + pausa
      const fuera = this.#admission.remove(line)
      for (const removedEntrega of fuera) this.#tenidas.delete(removedEntrega)
      punto.due.unshift(...fuera)
      tiempo.after(pausa, () => punto.duena?.mirar(punto))
    }
    this.#resultados.push({ line, aviso: entrega, succeeded })
    if (this.#resultados.length >= SETTLEMENT_GROUP) this.#settle()
    else if (!this.#isGathering) {
      this.#isGathering = true
      tiempo.after(GATHERING_MS, () => this.#settle())
    }
    this.#send()
    this.#considerar(line)
  }

  #settle(): void {
    this.#isGathering = false
    const { tiempo, postgres, costs: costos } = this.#mundo
    while (this.#resultados.length > 0 && this.#groups < ASIENTOS) {
      const grupo = this.#resultados.splice(0, SETTLEMENT_GROUP)
      this.#groups++
      this.#settling += grupo.length
      postgres().perform((grupo.length * costos.postgres) / 2, () =>
        tiempo.after(costos.disco, () => {
          if (!this.isAlive) return
          this.#groups--
          this.#settling -= grupo.length
          for (const { line, aviso: entrega, succeeded } of grupo) this.#cerrar(line, entrega, succeeded)
          this.#settle()
          this.#send()
        }),
      )
    }
  }

  #cerrar(line: PointLine, entrega: EntregaSimulada, succeeded: boolean): void {
    const { tiempo, random: azar } = this.#mundo
    this.#tenidas.delete(entrega)
    entrega.intentos++
    if (succeeded) entrega.terminada = 'entregada'
    else {
      const proximo = nextAttempt(entrega.intentos, new Date(tiempo.ahora), null, azar())
      if (!proximo) entrega.terminada = 'fallida'
      else
        tiempo.after(proximo.getTime() - tiempo.ahora, () => {
          line.point.due.push(entrega)
          line.point.duena?.mirar(line.point)
        })
    }
    this.#considerar(line)
  }
}
