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
import type { Hilo, Maquina, Tiempo } from './virtualTime.ts'

/** Simulated delivery; the simulation's database keeps it until it ends. */
export interface EntregaSimulada extends Waiting {
  readonly creada: number
  intentos: number
  /** First arrival at the receiver that the receiver accepted, in milliseconds of virtual time. */
  recibida?: number
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
  haFallado: boolean
  duena?: Bomba
}

/**
 * Costs of one delivery in milliseconds of CPU: of the sending thread, of its helper threads (garbage collection and
 * compilation in V8), of PostgreSQL and of the receiver. `disco` is the wait of a commit.
 */
export interface Costos {
  envio: number
  ayudantes: number
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
  postgres: () => Hilo
  receptor: Hilo
  alRecibir: (entrega: EntregaSimulada, punto: Punto) => void
}

class Fila extends DeliveryLine<EntregaSimulada> {
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
  readonly #hilo: Hilo
  readonly #ayudantes: Hilo
  readonly #admission = new Admission<EntregaSimulada, Fila>()
  readonly #hosts: Hosts<Fila>
  readonly #rows = new Map<Punto, Fila>()
  readonly #toRead = new Set<Fila>()
  /** Deliveries that the process has read and not settled. */
  readonly #tenidas = new Map<EntregaSimulada, Punto>()
  readonly #resultados: { fila: Fila; aviso: EntregaSimulada; succeeded: boolean }[] = []
  #scans = 0
  #groups = 0
  #settling = 0
  #reunion = false
  viva = true

  constructor(mundo: Mundo, maquina: Maquina) {
    this.#mundo = mundo
    this.#hilo = maquina.thread()
    this.#ayudantes = maquina.thread()
    this.#hosts = new Hosts(() => mundo.tiempo.ahora)
  }

  /** Takes the lease of an endpoint. */
  take(punto: Punto): void {
    punto.duena = this
    const fila = new Fila(punto, this.#admission.open(punto.comercio))
    fila.limit = punto.fallas >= FAILURES_TO_BRAKE ? 1 : IN_FLIGHT_PER_WEBHOOK
    this.#rows.set(punto, fila)
    this.#request(fila)
  }

  /** Tells the process that an endpoint has due deliveries. */
  mirar(punto: Punto): void {
    const fila = this.#rows.get(punto)
    if (!fila) return
    this.#admission.queueLine(fila)
    this.#send()
    this.#request(fila)
  }

  /**
   * Kills the process. Its unsettled deliveries become due again.
   * @returns the endpoints that the process held
   */
  morir(): readonly Punto[] {
    this.viva = false
    for (const [entrega, punto] of this.#tenidas) punto.due.push(entrega)
    const puntos = [...this.#rows.keys()]
    for (const punto of puntos) {
      delete punto.duena
      punto.due.sort((a, b) => a.creada - b.creada || a.secuencia - b.secuencia)
    }
    return puntos
  }

  #request(fila: Fila): void {
    fila.porLeer = true
    this.#considerar(fila)
  }

  #considerar(fila: Fila): void {
    const { tiempo } = this.#mundo
    if (this.#toRead.size > 0) this.#leer()
    if (!fila.porLeer || fila.reading || fila.waiting.length > READ_THRESHOLD) return
    if (fila.isHung(tiempo.ahora, SLOW_AFTER)) return
    this.#toRead.add(fila)
    this.#leer()
  }

  #leer(): void {
    if (this.#scans >= LECTURAS || !this.viva) return
    const pedidas: { fila: Fila; count: number }[] = []
    const porFila = Math.max(IN_FLIGHT_PER_WEBHOOK, Math.ceil(MAX_WAITING / this.#toRead.size))
    for (const fila of [...this.#toRead].slice(0, PER_READ)) {
      this.#toRead.delete(fila)
      if (fila.reading) continue
      const cuantas = this.#admission.reserve(fila, porFila)
      if (cuantas > 0) {
        fila.reading = true
        fila.porLeer = false
        pedidas.push({ fila, count: cuantas })
      } else if (fila.limit > 1) this.#toRead.add(fila)
    }
    if (pedidas.length === 0) return
    this.#scans++
    const leidas = pedidas.map(({ fila, count: cuantas }) => fila.point.due.splice(0, cuantas))
    for (const [i, { fila }] of pedidas.entries())
      for (const entrega of leidas[i]!) this.#tenidas.set(entrega, fila.point)
    const filas = leidas.reduce((suma, suyas) => suma + suyas.length, 0)
    const { postgres, costs: costos } = this.#mundo
    postgres().perform((filas * costos.postgres) / 2, () => {
      if (!this.viva) return
      this.#scans--
      for (const [i, { fila, count: cuantas }] of pedidas.entries()) this.#traer(fila, cuantas, leidas[i]!)
      this.#send()
      for (const { fila } of pedidas) if (fila.limit > 1) this.#considerar(fila)
    })
  }

  #traer(fila: Fila, cuantas: number, leidas: readonly EntregaSimulada[]): void {
    this.#admission.unreserve(fila, cuantas)
    fila.reading = false
    if (leidas.length >= cuantas) fila.porLeer = true
    const { ahora } = this.#mundo.tiempo
    for (const entrega of leidas) this.#admission.add(fila, Object.assign(entrega, { desde: ahora }))
  }

  #send(): void {
    const { tiempo, costs: costos } = this.#mundo
    const puede = (fila: Fila) => {
      if (fila.point.frenadoHasta > tiempo.ahora) return false
      return this.#hosts.maySend(this.#envio(fila), fila)
    }
    while (this.viva && this.#resultados.length + this.#settling < MANY_PENDING) {
      const turno = this.#admission.take(tiempo.ahora, puede)
      if (!turno) return
      this.#hosts.start(this.#envio(turno.linea))
      this.#hilo.perform(costos.envio / 2, () => this.#mandar(turno))
      if (costos.ayudantes > 0) this.#ayudantes.perform(costos.ayudantes, () => {})
    }
  }

  #envio({ point: punto }: Fila) {
    return { host: punto.host, comercio: punto.comercio, verified: true, isTest: false }
  }

  #mandar(turno: AdmissionTurn<EntregaSimulada, Fila>): void {
    const { tiempo, random: azar, costs: costos, receptor, alRecibir } = this.#mundo
    const { ms, succeeded: buena } = turno.linea.point.responder(azar, tiempo.ahora)
    const tarda = Math.min(ms, EXCHANGE_TIMEOUT)
    // A random part of the time passes before the arrival, so that deliveries may overtake each other.
    const camino = azar() * tarda
    const recibir = () => {
      if (buena && ms < EXCHANGE_TIMEOUT) {
        turno.aviso.times++
        turno.aviso.recibida ??= tiempo.ahora
        alRecibir(turno.aviso, turno.linea.point)
      } else turno.linea.point.haFallado = true
      tiempo.after(tarda - camino, () =>
        this.#hilo.perform(costos.envio / 2, () => this.#finish(turno, buena && ms < EXCHANGE_TIMEOUT)),
      )
    }
    tiempo.after(camino, () => receptor.perform(costos.receptor, recibir))
  }

  #finish(turno: AdmissionTurn<EntregaSimulada, Fila>, buena: boolean): void {
    const { linea: fila, aviso: entrega } = turno
    const { tiempo } = this.#mundo
    if (!this.viva) return
    this.#admission.finish(turno, tiempo.ahora)
    for (const otra of this.#hosts.finish(this.#envio(fila), buena)) this.#admission.queueLine(otra)
    const { point: punto } = fila
    punto.fallas = buena ? 0 : punto.fallas + 1
    fila.limit = punto.fallas >= FAILURES_TO_BRAKE ? 1 : IN_FLIGHT_PER_WEBHOOK
    if (punto.fallas >= FAILURES_TO_BRAKE) {
      const pausa = Math.min(MAX_BRAKE, MIN_BRAKE * 2 ** (punto.fallas - FAILURES_TO_BRAKE))
      punto.frenadoHasta = tiempo.ahora + pausa
      const fuera = this.#admission.remove(fila)
      for (const otra of fuera) this.#tenidas.delete(otra)
      punto.due.unshift(...fuera)
      tiempo.after(pausa, () => punto.duena?.mirar(punto))
    }
    this.#resultados.push({ fila, aviso: entrega, succeeded: buena })
    if (this.#resultados.length >= SETTLEMENT_GROUP) this.#settle()
    else if (!this.#reunion) {
      this.#reunion = true
      tiempo.after(GATHERING_MS, () => this.#settle())
    }
    this.#send()
    this.#considerar(fila)
  }

  #settle(): void {
    this.#reunion = false
    const { tiempo, postgres, costs: costos } = this.#mundo
    while (this.#resultados.length > 0 && this.#groups < ASIENTOS) {
      const grupo = this.#resultados.splice(0, SETTLEMENT_GROUP)
      this.#groups++
      this.#settling += grupo.length
      postgres().perform((grupo.length * costos.postgres) / 2, () =>
        tiempo.after(costos.disco, () => {
          if (!this.viva) return
          this.#groups--
          this.#settling -= grupo.length
          for (const { fila, aviso: entrega, succeeded: buena } of grupo) this.#cerrar(fila, entrega, buena)
          this.#settle()
          this.#send()
        }),
      )
    }
  }

  #cerrar(fila: Fila, entrega: EntregaSimulada, buena: boolean): void {
    const { tiempo, random: azar } = this.#mundo
    this.#tenidas.delete(entrega)
    entrega.intentos++
    if (buena) entrega.terminada = 'entregada'
    else {
      const proximo = nextAttempt(entrega.intentos, new Date(tiempo.ahora), null, azar())
      if (!proximo) entrega.terminada = 'fallida'
      else
        tiempo.after(proximo.getTime() - tiempo.ahora, () => {
          fila.point.due.push(entrega)
          fila.point.duena?.mirar(fila.point)
        })
    }
    this.#considerar(fila)
  }
}
