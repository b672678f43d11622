/**
 * Maximum concurrent exchanges (a request and its response) that have not yet lasted longer than {@link SLOW_AFTER}.
 */
export const IN_FLIGHT = 64
/**
 * Duration in milliseconds after which an exchange is slow. A slow exchange costs only its socket and does not count in
 * {@link IN_FLIGHT}.
 */
export const SLOW_AFTER = 1_000
/** Maximum concurrent exchanges, including slow ones. */
export const MAX_IN_FLIGHT = 512
/** Maximum concurrent exchanges of one endpoint. An endpoint that fails has one at a time, its probe. */
export const IN_FLIGHT_PER_WEBHOOK = 4
/** Maximum concurrent exchanges of one merchant: half of {@link IN_FLIGHT}, and fewer the fuller the process is. */
export const IN_FLIGHT_PER_MERCHANT = 32
/** Maximum deliveries of one endpoint that wait in memory. */
export const READ_WINDOW = 50
/** Maximum deliveries of one merchant that wait in memory, and fewer the fuller the memory is. */
export const WAITING_PER_MERCHANT = 150
/** Maximum deliveries that wait in memory, over all merchants. Near this maximum each merchant gets fewer places. */
export const MAX_WAITING = 1_500

/** Delivery that waits in memory for its turn. */
export interface Waiting {
  /** Id of the event (evt_…), which identifies the delivery within its endpoint. */
  readonly evento: string
  /**
   * Guide of the event. Two events of one guide are never sent at the same time, and are sent in the order of their
   * sequence.
   */
  readonly guia_id: string
  readonly secuencia: number
  /** Time since which the delivery waits, in milliseconds of the process's clock. */
  readonly desde: number
}

/** Share of one merchant in the capacity of this process: its exchanges and waiting deliveries. */
export class MerchantShare {
  readonly comercio: string
  enVuelo = 0
  enEspera = 0
  /** Places reserved for deliveries that are being read. */
  reservados = 0
  lineas = 0
  /**
   * Endpoints with due deliveries that wait only because the merchant uses its whole share. The first of them continues
   * when a request to one of the merchant's endpoints ends.
   */
  readonly detenidas = new Set<DeliveryLine>()

  constructor(comercio: string) {
    this.comercio = comercio
  }
}

/** Line of one endpoint: its waiting deliveries and its exchanges in progress. */
export class DeliveryLine<T extends Waiting = Waiting> {
  readonly share: MerchantShare
  readonly waiting: T[] = []
  /** Guides with an exchange in progress. */
  readonly guiasEnVuelo: Set<string>
  inFlight = 0
  /** Maximum concurrent exchanges of this line. */
  limit = IN_FLIGHT_PER_WEBHOOK
  /** Time when an exchange last began in an idle line, or last ended, in milliseconds. */
  movida = 0
  enTurno = false
  /** True once the line is closed: it takes no delivery, and its exchanges in progress end. */
  closed = false

  /** @param guiasEnVuelo guides with exchanges that a closed line of the same endpoint has in progress */
  constructor(parte: MerchantShare, guiasEnVuelo = new Set<string>()) {
    this.share = parte
    this.guiasEnVuelo = guiasEnVuelo
  }

  /** Returns the index of the first delivery whose guide has no exchange in progress; -1 if none exists. */
  primeraLibre(): number {
    return this.waiting.findIndex(({ guia_id }) => !this.guiasEnVuelo.has(guia_id))
  }

  /** Returns true if the line is full and no exchange has ended for more than `ms` milliseconds. */
  estaColgada(ahora: number, ms: number): boolean {
    return this.inFlight >= this.limit && ahora - this.movida > ms
  }
}

/** Exchange that may begin now: its line and its delivery. */
export interface AdmissionTurn<T extends Waiting, L extends DeliveryLine<T>> {
  readonly linea: L
  readonly entrega: T
  /** Time when the exchange began, in milliseconds. */
  readonly inicio: number
}

/**
 * Decides which line may send now, so that a slow receiver of one merchant does not cost the others. Lines take turns.
 * Exchanges in progress and deliveries in memory are limited for each endpoint, for each merchant and in total. This
 * class uses neither a clock nor the network: callers pass each time, in milliseconds.
 */
export class Admission<T extends Waiting, L extends DeliveryLine<T>> {
  readonly #partes = new Map<string, MerchantShare>()
  /** Exchanges in progress, in the order in which they began. */
  readonly #enVuelo = new Set<AdmissionTurn<T, L>>()
  readonly #turnos: L[] = []
  #enEspera = 0
  #reservados = 0

  get enVuelo(): number {
    return this.#enVuelo.size
  }

  get enEspera(): number {
    return this.#enEspera
  }

  /** Returns the share of a merchant, with one more line of the merchant. */
  abrir(comercio: string): MerchantShare {
    const parte = this.#partes.get(comercio) ?? new MerchantShare(comercio)
    this.#partes.set(comercio, parte)
    parte.lineas++
    return parte
  }

  /** Removes a line and the deliveries that wait in it. */
  cerrar(linea: L): void {
    const { share } = linea
    linea.closed = true
    this.sacar(linea)
    share.detenidas.delete(linea)
    if (--share.lineas === 0) this.#partes.delete(share.comercio)
  }

  /**
   * Returns the number of deliveries of a line that may still be brought into memory. A merchant with no waiting
   * delivery gets as many places as one endpoint can send at once, even if the memory is full. Slow receivers of other
   * merchants therefore exclude no merchant.
   */
  cabida({ waiting, inFlight, limit, share }: L): number {
    if (limit === 1) return waiting.length + inFlight === 0 ? 1 : 0
    const suyas = share.enEspera + share.reservados
    const quedan = MAX_WAITING - this.#enEspera - this.#reservados
    const tocan = Math.min(WAITING_PER_MERCHANT, Math.floor(quedan / 8))
    return Math.max(0, Math.min(READ_WINDOW - waiting.length, Math.max(IN_FLIGHT_PER_WEBHOOK, tocan) - suyas))
  }

  /**
   * Reserves places for deliveries of a line while they are being read.
   * @returns the number of places, `cuantosQuiere` at most
   */
  reservar(linea: L, cuantosQuiere: number): number {
    const cuantos = Math.min(cuantosQuiere, this.cabida(linea))
    linea.share.reservados += cuantos
    this.#reservados += cuantos
    return cuantos
  }

  /** Releases the places that {@link reservar} reserved. */
  liberar({ share }: L, cuantos: number): void {
    share.reservados -= cuantos
    this.#reservados -= cuantos
  }

  /** Adds a delivery at the end of its line, but before later events of the same guide. */
  poner(linea: L, entrega: T): void {
    const { guia_id, secuencia } = entrega
    const posterior = linea.waiting.findIndex((otra) => otra.guia_id === guia_id && otra.secuencia > secuencia)
    linea.waiting.splice(posterior === -1 ? linea.waiting.length : posterior, 0, entrega)
    linea.share.enEspera++
    this.#enEspera++
    this.citar(linea)
  }

  /** Removes waiting deliveries from a line, all of them or those that `cuales` selects, and returns them. */
  sacar(linea: L, cuales: (entrega: T) => boolean = () => true): T[] {
    const fuera = linea.waiting.filter(cuales)
    if (fuera.length === 0) return fuera
    const salen = new Set(fuera)
    linea.waiting.splice(0, linea.waiting.length, ...linea.waiting.filter((entrega) => !salen.has(entrega)))
    linea.share.enEspera -= fuera.length
    this.#enEspera -= fuera.length
    return fuera
  }

  /** Gives a line a place among the lines that take turns, if one of its deliveries could be sent. */
  citar(linea: L): void {
    if (linea.closed || linea.enTurno || linea.inFlight >= linea.limit || linea.primeraLibre() === -1) return
    linea.enTurno = true
    this.#turnos.push(linea)
  }

  /**
   * Returns the next exchange that may begin now; undefined if no exchange may begin.
   * @param puede returns true if the line may be sent to now; other lines lose their place until the next {@link citar}
   */
  tomar(ahora: number, puede: (linea: L) => boolean): AdmissionTurn<T, L> | undefined {
    if (this.#turnos.length === 0 || !this.#hayCupo(ahora)) return undefined
    const tope = this.#topeDeComercio()
    for (let linea = this.#turnos.shift(); linea; linea = this.#turnos.shift()) {
      linea.enTurno = false
      const cual = linea.inFlight < linea.limit ? linea.primeraLibre() : -1
      if (cual === -1 || !puede(linea)) continue
      if (linea.share.enVuelo >= tope) linea.share.detenidas.add(linea)
      else return this.#empezar(linea, cual, ahora)
    }
    return undefined
  }

  #empezar(linea: L, cual: number, ahora: number): AdmissionTurn<T, L> {
    const [entrega] = linea.waiting.splice(cual, 1)
    const turno = { linea, entrega: entrega!, inicio: ahora }
    linea.share.enEspera--
    this.#enEspera--
    this.#enVuelo.add(turno)
    linea.guiasEnVuelo.add(turno.entrega.guia_id)
    if (linea.inFlight++ === 0) linea.movida = ahora
    linea.share.enVuelo++
    this.citar(linea)
    return turno
  }

  /** Ends an exchange. Its place is free again, and so is its guide. */
  terminar(turno: AdmissionTurn<T, L>, ahora: number): void {
    const { linea, entrega } = turno
    if (!this.#enVuelo.delete(turno)) return
    linea.guiasEnVuelo.delete(entrega.guia_id)
    linea.inFlight--
    linea.movida = ahora
    linea.share.enVuelo--
    const [detenida] = linea.share.detenidas
    if (detenida) {
      linea.share.detenidas.delete(detenida)
      this.citar(detenida as L)
    }
    this.citar(linea)
  }

  #hayCupo(ahora: number): boolean {
    if (this.#enVuelo.size < IN_FLIGHT) return true
    if (this.#enVuelo.size >= MAX_IN_FLIGHT) return false
    let lentos = 0
    for (const { inicio } of this.#enVuelo) {
      if (inicio > ahora - SLOW_AFTER) break
      lentos++
    }
    return this.#enVuelo.size - lentos < IN_FLIGHT
  }

  #topeDeComercio(): number {
    return Math.max(
      IN_FLIGHT_PER_WEBHOOK,
      Math.min(IN_FLIGHT_PER_MERCHANT, Math.floor((MAX_IN_FLIGHT - this.#enVuelo.size) / 8)),
    )
  }
}
