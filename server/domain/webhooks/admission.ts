/** Maximum concurrent exchanges that have not taken longer than {@link LENTO} so far. */
export const EN_VUELO = 64
/**
 * Duration in milliseconds after which an exchange is slow. A slow exchange costs only its socket and does not count in
 * {@link EN_VUELO}.
 */
export const LENTO = 1_000
/** Maximum concurrent exchanges, including slow ones. */
export const EN_VUELO_MAXIMO = 512
/** Maximum concurrent exchanges of one endpoint. An endpoint that fails has one at a time, its probe. */
export const POR_WEBHOOK = 4
/** Maximum concurrent exchanges of one merchant: half of {@link EN_VUELO}, and fewer the fuller the process is. */
export const POR_COMERCIO = 32
/** Maximum deliveries of one endpoint that wait in memory. */
export const VENTANA = 50
/** Maximum deliveries of one merchant that wait in memory, and fewer the fuller the memory is. */
export const EN_ESPERA_POR_COMERCIO = 150
/** Maximum deliveries that wait in memory, over all merchants. Near this maximum each merchant gets fewer places. */
export const EN_ESPERA = 1_500

/** Delivery that waits in memory for its turn. */
export interface EnEspera {
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

/** Share of one merchant in the capacity of this process. */
export class Parte {
  readonly comercio: string
  enVuelo = 0
  enEspera = 0
  /** Places reserved for deliveries that are being read. */
  reservados = 0
  lineas = 0
  /** Lines that only this share holds back. The first of them continues when an exchange of the merchant ends. */
  readonly detenidas = new Set<Linea>()

  constructor(comercio: string) {
    this.comercio = comercio
  }
}

/** Line of one endpoint: its waiting deliveries and its exchanges in progress. */
export class Linea<T extends EnEspera = EnEspera> {
  readonly parte: Parte
  readonly espera: T[] = []
  readonly guiasEnVuelo = new Set<string>()
  enVuelo = 0
  /** Maximum concurrent exchanges of the line. */
  tope = POR_WEBHOOK
  /** Time when an exchange last began in an idle line, or last ended, in milliseconds. */
  movida = 0
  enTurno = false

  constructor(parte: Parte) {
    this.parte = parte
  }

  /** Returns the index of the first delivery whose guide has no exchange in progress; -1 if none exists. */
  primeraLibre(): number {
    return this.espera.findIndex(({ guia_id }) => !this.guiasEnVuelo.has(guia_id))
  }

  /** Returns true if the line is full and no exchange has ended for more than `ms` milliseconds. */
  estaColgada(ahora: number, ms: number): boolean {
    return this.enVuelo >= this.tope && ahora - this.movida > ms
  }
}

/** Exchange that may begin now: its line and its delivery. */
export interface Turno<T extends EnEspera, L extends Linea<T>> {
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
export class Cupos<T extends EnEspera, L extends Linea<T>> {
  readonly #partes = new Map<string, Parte>()
  /** Exchanges in progress, in the order in which they began. */
  readonly #enVuelo = new Set<Turno<T, L>>()
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
  abrir(comercio: string): Parte {
    const parte = this.#partes.get(comercio) ?? new Parte(comercio)
    this.#partes.set(comercio, parte)
    parte.lineas++
    return parte
  }

  /** Removes a line and the deliveries that wait in it. */
  cerrar(linea: L): void {
    const { parte } = linea
    this.sacar(linea)
    parte.detenidas.delete(linea)
    if (--parte.lineas === 0) this.#partes.delete(parte.comercio)
  }

  /**
   * Returns the number of deliveries of a line that may still be brought into memory. A merchant with no waiting
   * delivery gets as many places as one endpoint can send at once, even if the memory is full. Slow receivers of other
   * merchants therefore exclude no merchant.
   */
  cabida({ espera, enVuelo, tope, parte }: L): number {
    if (tope === 1) return espera.length + enVuelo === 0 ? 1 : 0
    const suyas = parte.enEspera + parte.reservados
    const quedan = EN_ESPERA - this.#enEspera - this.#reservados
    const tocan = Math.min(EN_ESPERA_POR_COMERCIO, Math.floor(quedan / 8))
    return Math.max(0, Math.min(VENTANA - espera.length, Math.max(POR_WEBHOOK, tocan) - suyas))
  }

  /**
   * Reserves places for deliveries of a line while they are being read.
   * @returns the number of places, `cuantosQuiere` at most
   */
  reservar(linea: L, cuantosQuiere: number): number {
    const cuantos = Math.min(cuantosQuiere, this.cabida(linea))
    linea.parte.reservados += cuantos
    this.#reservados += cuantos
    return cuantos
  }

  /** Releases the places that {@link reservar} reserved. */
  liberar({ parte }: L, cuantos: number): void {
    parte.reservados -= cuantos
    this.#reservados -= cuantos
  }

  /** Adds a delivery at the end of its line, but before later events of the same guide. */
  poner(linea: L, entrega: T): void {
    const { guia_id, secuencia } = entrega
    const posterior = linea.espera.findIndex((otra) => otra.guia_id === guia_id && otra.secuencia > secuencia)
    linea.espera.splice(posterior === -1 ? linea.espera.length : posterior, 0, entrega)
    linea.parte.enEspera++
    this.#enEspera++
    this.citar(linea)
  }

  /** Removes waiting deliveries from a line, all of them or those that `cuales` selects, and returns them. */
  sacar(linea: L, cuales: (entrega: T) => boolean = () => true): T[] {
    const fuera = linea.espera.filter(cuales)
    if (fuera.length === 0) return fuera
    const salen = new Set(fuera)
    linea.espera.splice(0, linea.espera.length, ...linea.espera.filter((entrega) => !salen.has(entrega)))
    linea.parte.enEspera -= fuera.length
    this.#enEspera -= fuera.length
    return fuera
  }

  /** Gives a line a place among the lines that take turns, if one of its deliveries could be sent. */
  citar(linea: L): void {
    if (linea.enTurno || linea.enVuelo >= linea.tope || linea.primeraLibre() === -1) return
    linea.enTurno = true
    this.#turnos.push(linea)
  }

  /**
   * Returns the next exchange that may begin now; undefined if no exchange may begin.
   * @param puede returns true if the line may be sent to now; other lines lose their place until the next {@link citar}
   */
  tomar(ahora: number, puede: (linea: L) => boolean): Turno<T, L> | undefined {
    if (this.#turnos.length === 0 || !this.#hayCupo(ahora)) return undefined
    const tope = this.#topeDeComercio()
    for (let linea = this.#turnos.shift(); linea; linea = this.#turnos.shift()) {
      linea.enTurno = false
      const cual = linea.enVuelo < linea.tope ? linea.primeraLibre() : -1
      if (cual === -1 || !puede(linea)) continue
      if (linea.parte.enVuelo >= tope) linea.parte.detenidas.add(linea)
      else return this.#empezar(linea, cual, ahora)
    }
    return undefined
  }

  #empezar(linea: L, cual: number, ahora: number): Turno<T, L> {
    const [entrega] = linea.espera.splice(cual, 1)
    const turno = { linea, entrega: entrega!, inicio: ahora }
    linea.parte.enEspera--
    this.#enEspera--
    this.#enVuelo.add(turno)
    linea.guiasEnVuelo.add(turno.entrega.guia_id)
    if (linea.enVuelo++ === 0) linea.movida = ahora
    linea.parte.enVuelo++
    this.citar(linea)
    return turno
  }

  /** Ends an exchange. Its place is free again, and so is its guide. */
  terminar(turno: Turno<T, L>, ahora: number): void {
    const { linea, entrega } = turno
    if (!this.#enVuelo.delete(turno)) return
    linea.guiasEnVuelo.delete(entrega.guia_id)
    linea.enVuelo--
    linea.movida = ahora
    linea.parte.enVuelo--
    const [detenida] = linea.parte.detenidas
    if (detenida) {
      linea.parte.detenidas.delete(detenida)
      this.citar(detenida as L)
    }
    this.citar(linea)
  }

  #hayCupo(ahora: number): boolean {
    if (this.#enVuelo.size < EN_VUELO) return true
    if (this.#enVuelo.size >= EN_VUELO_MAXIMO) return false
    let lentos = 0
    for (const { inicio } of this.#enVuelo) {
      if (inicio > ahora - LENTO) break
      lentos++
    }
    return this.#enVuelo.size - lentos < EN_VUELO
  }

  #topeDeComercio(): number {
    return Math.max(POR_WEBHOOK, Math.min(POR_COMERCIO, Math.floor((EN_VUELO_MAXIMO - this.#enVuelo.size) / 8)))
  }
}
