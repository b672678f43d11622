import { DeliveryLine, IN_FLIGHT_PER_WEBHOOK, type MerchantShare, type Waiting } from './admission.ts'
import { type ContenidoDeEntrega, YA } from './entrega.ts'
import type { Lease } from './leases.ts'
import type { Receptor } from './receptor.ts'
import { FAILURES_TO_BRAKE, MAX_BRAKE } from './schedule.ts'

/** Delivery in memory, with the data of its body. */
export interface ReadyDelivery extends Waiting {
  contenido: ContenidoDeEntrega
}

/**
 * Converts a delivery to its form in memory.
 * @param desde time since which the delivery waits, in milliseconds of the process's clock
 */
export const toReady = (contenido: ContenidoDeEntrega, desde: number): ReadyDelivery => {
  const { evento, guia_id, secuencia } = contenido.entrega
  return { evento, guia_id, secuencia, desde, contenido }
}

/**
 * Returns true if a pause has not ended yet. A pause that ends more than twice {@link MAX_BRAKE} from now comes from
 * a wrong clock and does not count.
 */
const frena = (hasta: Date, cuando: Date) => hasta > cuando && hasta.getTime() <= cuando.getTime() + 2 * MAX_BRAKE

/** Maximum age of an endpoint's data when a delivery is sent to it, in milliseconds. */
const FRESCO = 1_500

/** Endpoint that this process holds, with its data and its deliveries in memory. */
export class Endpoint extends DeliveryLine<ReadyDelivery> {
  readonly arriendo: Lease
  receptor: Receptor | undefined
  /** Time when the receiver was last read, in milliseconds of the process's clock. */
  #leidoEn = Number.NEGATIVE_INFINITY
  /** Deliveries that wait, are being sent or are not settled yet, by the id of their event. */
  readonly enMemoria: Set<string>
  /** True if the endpoint may have deliveries that are not in memory. */
  porLeer = true
  leyendo = false
  /** Deliveries settled during a read that may still return them. They are removed from memory after the read. */
  #asentadas: string[] = []
  /** Failures in a row that this process saw since it last knew that the endpoint was healthy. */
  #fallas = 0
  /** Failures that are not settled yet. */
  #fallasSinAsentar = 0
  /** True if the endpoint's data may lack a failure that this process saw. */
  #turbio = false
  /**
   * Time when the read before the last one ended, in milliseconds. Until the first read, the time when the endpoint was
   * taken.
   */
  #antes: number
  /** Time when the last read ended, in milliseconds. Until the first read, the time when the endpoint was taken. */
  #leida: number
  /** Ids of the events that the last read returned. */
  #traidas = new Set<string>()
  /** Time of the endpoint's latest activity, in milliseconds of the process's clock. */
  actividad: number

  /** @param enMemoria deliveries still being sent since this process held the endpoint before */
  constructor(arriendo: Lease, parte: MerchantShare, ahora: number, enMemoria: Set<string>) {
    super(parte)
    this.arriendo = arriendo
    this.enMemoria = enMemoria
    this.actividad = ahora
    this.#antes = ahora
    this.#leida = ahora
  }

  /** Stores the present row of the endpoint. @param receptor undefined if the endpoint no longer exists */
  conocer(receptor: Receptor | undefined, ahora: number): void {
    this.receptor = receptor
    this.#leidoEn = ahora
    this.#turbio = this.#fallasSinAsentar > 0
    if (receptor?.fallas === 0) this.#fallas = 0
    this.limit = Math.max(this.#fallas, receptor?.fallas ?? 0) >= FAILURES_TO_BRAKE ? 1 : IN_FLIGHT_PER_WEBHOOK
  }

  esFresco(ahora: number): boolean {
    return ahora - this.#leidoEn < FRESCO
  }

  /** Returns true if the endpoint accepts all due deliveries, and not only deliveries sent on request. */
  estaActivo(cuando: Date): boolean {
    const { estado, comprobado_en = null, freno_vence_en = null } = this.receptor ?? {}
    return estado === 'activo' && comprobado_en !== null && (freno_vence_en === null || !frena(freno_vence_en, cuando))
  }

  /** Returns true if a delivery may be sent to the endpoint in its present state. */
  admite({ contenido: { entrega } }: ReadyDelivery, cuando: Date): boolean {
    return entrega.proximo_en.getTime() === YA.getTime() || this.estaActivo(cuando)
  }

  /** True if the endpoint is known to be healthy. A success then changes nothing about it. */
  get estaSano(): boolean {
    const { receptor } = this
    if (this.#turbio || !receptor || receptor.comprobado_en === null) return false
    return receptor.fallas === 0 && receptor.freno_vence_en === null
  }

  /** Records the end of an attempt. @returns true if the endpoint now gets one delivery at a time, as a probe */
  anotar(bueno: boolean): boolean {
    if (!bueno) {
      this.#turbio = true
      this.#fallasSinAsentar++
    }
    this.#fallas = bueno ? 0 : this.#fallas + 1
    this.limit = this.#fallas >= FAILURES_TO_BRAKE ? 1 : bueno ? IN_FLIGHT_PER_WEBHOOK : this.limit
    return this.#fallas >= FAILURES_TO_BRAKE
  }

  /** Records that an attempt is settled. */
  asentar(evento: string, bueno: boolean): void {
    if (!bueno && this.#fallasSinAsentar > 0) this.#fallasSinAsentar--
    this.olvidar(evento)
  }

  /** Removes a delivery from memory. The delivery may be read again if it is still pending. */
  olvidar(evento: string): void {
    if (this.leyendo) this.#asentadas.push(evento)
    else this.enMemoria.delete(evento)
  }

  /** Records the end of a read. @param traidas ids of the events that the read returned */
  terminarLectura(traidas: readonly string[], ahora: number): void {
    this.leyendo = false
    this.#antes = this.#leida
    this.#leida = ahora
    this.#traidas = new Set(traidas)
    for (const evento of this.#asentadas.splice(0)) this.enMemoria.delete(evento)
  }

  /**
   * Returns true if no read has returned the event. A read may see a commit before the process that commits knows of
   * it.
   * @param desde time when the write of the event began, in milliseconds
   */
  esNuevo(evento: string, desde: number): boolean {
    return desde > this.#antes && !this.#traidas.has(evento)
  }
}
