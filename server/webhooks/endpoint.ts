import type { Arriendo } from './arriendos.ts'
import { FALLAS_PARA_FRENAR, FRENO_MAXIMO } from './calendario.ts'
import { type EnEspera, Linea, type Parte, POR_WEBHOOK } from './cupos.ts'
import { type Contenido, YA } from './entrega.ts'
import type { Receptor } from './receptor.ts'

/** A delivery in memory, with what its body is made of. */
export interface Lista extends EnEspera {
  contenido: Contenido
}

export const aLista = (contenido: Contenido, desde: number): Lista => {
  const { evento, guia_id, secuencia } = contenido.entrega
  return { evento, guia_id, secuencia, desde, contenido }
}

/** Whether a pause isn't over; one that a clock gone wrong put far ahead doesn't count. */
const frena = (hasta: Date, cuando: Date) => hasta > cuando && hasta.getTime() <= cuando.getTime() + 2 * FRENO_MAXIMO

/** How old what is known of an endpoint may be when something is sent to it, in milliseconds. */
const FRESCO = 1_500

/** An endpoint that this process holds: what is known of it, and what of it is in memory. */
export class Endpoint extends Linea<Lista> {
  readonly arriendo: Arriendo
  receptor: Receptor | undefined
  /** When the receiver was last read, in milliseconds of the process's clock. */
  #leidoEn = Number.NEGATIVE_INFINITY
  /** Deliveries that wait, are under way or aren't settled yet, by their event. */
  readonly enMemoria: Set<string>
  /** Whether there may be deliveries of it that aren't in memory. */
  porLeer = true
  leyendo = false
  /** Settled while a read was under way that may still bring them: forgotten after it. */
  #asentadas: string[] = []
  /** Failures in a row that this process saw since it last knew the endpoint to be well. */
  #fallas = 0
  /** Failures that aren't settled yet, and whether one was that what is known doesn't tell. */
  #fallasSinAsentar = 0
  #turbio = false
  /** When the reads before the last one were over, and the last one: until when it was taken, there was none. */
  #antes: number
  #leida: number
  /** What the last read brought, by event. */
  #traidas = new Set<string>()
  /** When something of it last began or ended, in milliseconds. */
  actividad: number

  /** @param enMemoria deliveries that are still under way since this process held the endpoint before */
  constructor(arriendo: Arriendo, parte: Parte, ahora: number, enMemoria: Set<string>) {
    super(parte)
    this.arriendo = arriendo
    this.enMemoria = enMemoria
    this.actividad = ahora
    this.#antes = ahora
    this.#leida = ahora
  }

  /** What its row says now; undefined: it is gone. */
  conocer(receptor: Receptor | undefined, ahora: number): void {
    this.receptor = receptor
    this.#leidoEn = ahora
    this.#turbio = this.#fallasSinAsentar > 0
    if (receptor?.fallas === 0) this.#fallas = 0
    this.tope = Math.max(this.#fallas, receptor?.fallas ?? 0) >= FALLAS_PARA_FRENAR ? 1 : POR_WEBHOOK
  }

  esFresco(ahora: number): boolean {
    return ahora - this.#leidoEn < FRESCO
  }

  /** Whether it takes what is due, and not only what somebody asked to be sent. */
  estaActivo(cuando: Date): boolean {
    const { estado, comprobado_en = null, freno_vence_en = null } = this.receptor ?? {}
    return estado === 'activo' && comprobado_en !== null && (freno_vence_en === null || !frena(freno_vence_en, cuando))
  }

  /** Whether a delivery may go to it as it is now. */
  admite({ contenido: { entrega } }: Lista, cuando: Date): boolean {
    return entrega.proximo_en.getTime() === YA.getTime() || this.estaActivo(cuando)
  }

  /** Whether it is known to be well, so that what goes well changes nothing of it. */
  get estaSano(): boolean {
    const { receptor } = this
    if (this.#turbio || !receptor || receptor.comprobado_en === null) return false
    return receptor.fallas === 0 && receptor.freno_vence_en === null
  }

  /** An attempt is over. @returns whether it fails so often that it gets one delivery at a time, as a probe */
  anotar(bueno: boolean): boolean {
    if (!bueno) {
      this.#turbio = true
      this.#fallasSinAsentar++
    }
    this.#fallas = bueno ? 0 : this.#fallas + 1
    this.tope = this.#fallas >= FALLAS_PARA_FRENAR ? 1 : bueno ? POR_WEBHOOK : this.tope
    return this.#fallas >= FALLAS_PARA_FRENAR
  }

  /** An attempt is settled. */
  asentar(evento: string, bueno: boolean): void {
    if (!bueno && this.#fallasSinAsentar > 0) this.#fallasSinAsentar--
    this.olvidar(evento)
  }

  /** A delivery is out of memory: it may be read again, if there is more to do about it. */
  olvidar(evento: string): void {
    if (this.leyendo) this.#asentadas.push(evento)
    else this.enMemoria.delete(evento)
  }

  /** @param traidas the events that it brought */
  terminarLectura(traidas: readonly string[], ahora: number): void {
    this.leyendo = false
    this.#antes = this.#leida
    this.#leida = ahora
    this.#traidas = new Set(traidas)
    for (const evento of this.#asentadas.splice(0)) this.enMemoria.delete(evento)
  }

  /**
   * Whether an event is known not to have been read, though others may see a commit before its own process hears of it.
   * @param desde when the writing of it began, in milliseconds
   */
  esNuevo(evento: string, desde: number): boolean {
    return desde > this.#antes && !this.#traidas.has(evento)
  }
}
