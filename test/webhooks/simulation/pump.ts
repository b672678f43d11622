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
  veces: number
  terminada?: 'entregada' | 'fallida'
}

/**
 * Behaviour of a receiver: milliseconds until it answers, and if the answer is a success. More milliseconds than
 * {@link EXCHANGE_TIMEOUT} mean that it never answers.
 */
export type Comportamiento = (azar: () => number, ahora: number) => { ms: number; buena: boolean }

/** Simulated endpoint as the database has it: its due deliveries and its failures. */
export interface Punto {
  readonly comercio: string
  readonly anfitrion: string
  readonly responder: Comportamiento
  /** Due deliveries that no process has read, oldest first. */
  readonly vencidas: EntregaSimulada[]
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
  azar: () => number
  costos: Costos
  /** Returns the connection of PostgreSQL with the shortest queue. */
  postgres: () => Hilo
  receptor: Hilo
  alRecibir: (entrega: EntregaSimulada, punto: Punto) => void
}

class Fila extends DeliveryLine<EntregaSimulada> {
  porLeer = true
  leyendo = false
  readonly punto: Punto

  constructor(punto: Punto, parte: DeliveryLine['share']) {
    super(parte)
    this.punto = punto
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
  readonly #cupos = new Admission<EntregaSimulada, Fila>()
  readonly #anfitriones: Hosts<Fila>
  readonly #filas = new Map<Punto, Fila>()
  readonly #porLeer = new Set<Fila>()
  /** Deliveries that the process has read and not settled. */
  readonly #tenidas = new Map<EntregaSimulada, Punto>()
  readonly #resultados: { fila: Fila; entrega: EntregaSimulada; buena: boolean }[] = []
  #lecturas = 0
  #grupos = 0
  #asentando = 0
  #reunion = false
  viva = true

  constructor(mundo: Mundo, maquina: Maquina) {
    this.#mundo = mundo
    this.#hilo = maquina.hilo()
    this.#ayudantes = maquina.hilo()
    this.#anfitriones = new Hosts(() => mundo.tiempo.ahora)
  }

  /** Takes the lease of an endpoint. */
  tomar(punto: Punto): void {
    punto.duena = this
    const fila = new Fila(punto, this.#cupos.abrir(punto.comercio))
    fila.limit = punto.fallas >= FAILURES_TO_BRAKE ? 1 : IN_FLIGHT_PER_WEBHOOK
    this.#filas.set(punto, fila)
    this.#pedir(fila)
  }

  /** Tells the process that an endpoint has due deliveries. */
  mirar(punto: Punto): void {
    const fila = this.#filas.get(punto)
    if (!fila) return
    this.#cupos.citar(fila)
    this.#enviar()
    this.#pedir(fila)
  }

  /**
   * Kills the process. Its unsettled deliveries become due again.
   * @returns the endpoints that the process held
   */
  morir(): readonly Punto[] {
    this.viva = false
    for (const [entrega, punto] of this.#tenidas) punto.vencidas.push(entrega)
    const puntos = [...this.#filas.keys()]
    for (const punto of puntos) {
      delete punto.duena
      punto.vencidas.sort((a, b) => a.creada - b.creada || a.secuencia - b.secuencia)
    }
    return puntos
  }

  #pedir(fila: Fila): void {
    fila.porLeer = true
    this.#considerar(fila)
  }

  #considerar(fila: Fila): void {
    const { tiempo } = this.#mundo
    if (this.#porLeer.size > 0) this.#leer()
    if (!fila.porLeer || fila.leyendo || fila.waiting.length > READ_THRESHOLD) return
    if (fila.estaColgada(tiempo.ahora, SLOW_AFTER)) return
    this.#porLeer.add(fila)
    this.#leer()
  }

  #leer(): void {
    if (this.#lecturas >= LECTURAS || !this.viva) return
    const pedidas: { fila: Fila; cuantas: number }[] = []
    const porFila = Math.max(IN_FLIGHT_PER_WEBHOOK, Math.ceil(MAX_WAITING / this.#porLeer.size))
    for (const fila of [...this.#porLeer].slice(0, PER_READ)) {
      this.#porLeer.delete(fila)
      if (fila.leyendo) continue
      const cuantas = this.#cupos.reservar(fila, porFila)
      if (cuantas > 0) {
        fila.leyendo = true
        fila.porLeer = false
        pedidas.push({ fila, cuantas })
      } else if (fila.limit > 1) this.#porLeer.add(fila)
    }
    if (pedidas.length === 0) return
    this.#lecturas++
    const leidas = pedidas.map(({ fila, cuantas }) => fila.punto.vencidas.splice(0, cuantas))
    for (const [i, { fila }] of pedidas.entries())
      for (const entrega of leidas[i]!) this.#tenidas.set(entrega, fila.punto)
    const filas = leidas.reduce((suma, suyas) => suma + suyas.length, 0)
    const { postgres, costos } = this.#mundo
    postgres().hacer((filas * costos.postgres) / 2, () => {
      if (!this.viva) return
      this.#lecturas--
      for (const [i, { fila, cuantas }] of pedidas.entries()) this.#traer(fila, cuantas, leidas[i]!)
      this.#enviar()
      for (const { fila } of pedidas) if (fila.limit > 1) this.#considerar(fila)
    })
  }

  #traer(fila: Fila, cuantas: number, leidas: readonly EntregaSimulada[]): void {
    this.#cupos.liberar(fila, cuantas)
    fila.leyendo = false
    if (leidas.length >= cuantas) fila.porLeer = true
    const { ahora } = this.#mundo.tiempo
    for (const entrega of leidas) this.#cupos.poner(fila, Object.assign(entrega, { desde: ahora }))
  }

  #enviar(): void {
    const { tiempo, costos } = this.#mundo
    const puede = (fila: Fila) => {
      if (fila.punto.frenadoHasta > tiempo.ahora) return false
      return this.#anfitriones.maySend(this.#envio(fila), fila)
    }
    while (this.viva && this.#resultados.length + this.#asentando < MANY_PENDING) {
      const turno = this.#cupos.tomar(tiempo.ahora, puede)
      if (!turno) return
      this.#anfitriones.start(this.#envio(turno.linea))
      this.#hilo.hacer(costos.envio / 2, () => this.#mandar(turno))
      if (costos.ayudantes > 0) this.#ayudantes.hacer(costos.ayudantes, () => {})
    }
  }

  #envio({ punto }: Fila) {
    return { anfitrion: punto.anfitrion, comercio: punto.comercio, comprobado: true, esPrueba: false }
  }

  #mandar(turno: AdmissionTurn<EntregaSimulada, Fila>): void {
    const { tiempo, azar, costos, receptor, alRecibir } = this.#mundo
    const { ms, buena } = turno.linea.punto.responder(azar, tiempo.ahora)
    const tarda = Math.min(ms, EXCHANGE_TIMEOUT)
    // A random part of the time passes before the arrival, so that deliveries may overtake each other.
    const camino = azar() * tarda
    const recibir = () => {
      if (buena && ms < EXCHANGE_TIMEOUT) {
        turno.entrega.veces++
        turno.entrega.recibida ??= tiempo.ahora
        alRecibir(turno.entrega, turno.linea.punto)
      } else turno.linea.punto.haFallado = true
      tiempo.tras(tarda - camino, () =>
        this.#hilo.hacer(costos.envio / 2, () => this.#terminar(turno, buena && ms < EXCHANGE_TIMEOUT)),
      )
    }
    tiempo.tras(camino, () => receptor.hacer(costos.receptor, recibir))
  }

  #terminar(turno: AdmissionTurn<EntregaSimulada, Fila>, buena: boolean): void {
    const { linea: fila, entrega } = turno
    const { tiempo } = this.#mundo
    if (!this.viva) return
    this.#cupos.terminar(turno, tiempo.ahora)
    for (const otra of this.#anfitriones.finish(this.#envio(fila), buena)) this.#cupos.citar(otra)
    const { punto } = fila
    punto.fallas = buena ? 0 : punto.fallas + 1
    fila.limit = punto.fallas >= FAILURES_TO_BRAKE ? 1 : IN_FLIGHT_PER_WEBHOOK
    if (punto.fallas >= FAILURES_TO_BRAKE) {
      const pausa = Math.min(MAX_BRAKE, MIN_BRAKE * 2 ** (punto.fallas - FAILURES_TO_BRAKE))
      punto.frenadoHasta = tiempo.ahora + pausa
      const fuera = this.#cupos.sacar(fila)
      for (const otra of fuera) this.#tenidas.delete(otra)
      punto.vencidas.unshift(...fuera)
      tiempo.tras(pausa, () => punto.duena?.mirar(punto))
    }
    this.#resultados.push({ fila, entrega, buena })
    if (this.#resultados.length >= SETTLEMENT_GROUP) this.#asentar()
    else if (!this.#reunion) {
      this.#reunion = true
      tiempo.tras(GATHERING_MS, () => this.#asentar())
    }
    this.#enviar()
    this.#considerar(fila)
  }

  #asentar(): void {
    this.#reunion = false
    const { tiempo, postgres, costos } = this.#mundo
    while (this.#resultados.length > 0 && this.#grupos < ASIENTOS) {
      const grupo = this.#resultados.splice(0, SETTLEMENT_GROUP)
      this.#grupos++
      this.#asentando += grupo.length
      postgres().hacer((grupo.length * costos.postgres) / 2, () =>
        tiempo.tras(costos.disco, () => {
          if (!this.viva) return
          this.#grupos--
          this.#asentando -= grupo.length
          for (const { fila, entrega, buena } of grupo) this.#cerrar(fila, entrega, buena)
          this.#asentar()
          this.#enviar()
        }),
      )
    }
  }

  #cerrar(fila: Fila, entrega: EntregaSimulada, buena: boolean): void {
    const { tiempo, azar } = this.#mundo
    this.#tenidas.delete(entrega)
    entrega.intentos++
    if (buena) entrega.terminada = 'entregada'
    else {
      const proximo = nextAttempt(entrega.intentos, new Date(tiempo.ahora), null, azar())
      if (!proximo) entrega.terminada = 'fallida'
      else
        tiempo.tras(proximo.getTime() - tiempo.ahora, () => {
          fila.punto.vencidas.push(entrega)
          fila.punto.duena?.mirar(fila.punto)
        })
    }
    this.#considerar(fila)
  }
}
