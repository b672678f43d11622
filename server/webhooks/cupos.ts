/** Exchanges under way at a time, of those that took no longer than {@link LENTO} so far. */
export const EN_VUELO = 64
/** Beyond so many milliseconds an exchange costs nothing but its socket, and isn't counted in {@link EN_VUELO}. */
export const LENTO = 1_000
/** Exchanges under way at a time, slow ones included. */
export const EN_VUELO_MAXIMO = 512
/** Exchanges of one endpoint under way at a time; one of an endpoint that fails: its probe. */
export const POR_WEBHOOK = 4
/** Exchanges of one merchant under way at a time: half of the quick ones, and fewer the fuller the process is. */
export const POR_COMERCIO = 32
/** Deliveries of one endpoint that wait in memory at most. */
export const VENTANA = 50
/** Deliveries of one merchant that wait in memory at most, and fewer the fuller it is. */
export const EN_ESPERA_POR_COMERCIO = 150
/** Deliveries that wait in memory, of all merchants: near it each gets fewer. */
export const EN_ESPERA = 1_500

/** A delivery that waits in memory for its turn. */
export interface EnEspera {
  /** evt_…: what identifies the delivery within its endpoint. */
  readonly evento: string
  /** Two events of one guide are never under way at once, and go in the order of their sequence. */
  readonly guia_id: string
  readonly secuencia: number
  /** Since when it waits, in milliseconds of the process's clock. */
  readonly desde: number
}

/** One merchant's share. */
export class Parte {
  readonly comercio: string
  enVuelo = 0
  enEspera = 0
  /** Places kept for deliveries that are being read. */
  reservados = 0
  lineas = 0
  /** Lines that could go but for this share; the first of them goes when an exchange of the merchant ends. */
  readonly detenidas = new Set<Linea>()

  constructor(comercio: string) {
    this.comercio = comercio
  }
}

/** One endpoint's line: what waits for it, and what is under way. */
export class Linea<T extends EnEspera = EnEspera> {
  readonly parte: Parte
  readonly espera: T[] = []
  readonly guiasEnVuelo = new Set<string>()
  enVuelo = 0
  /** Exchanges that may be under way at once. */
  tope = POR_WEBHOOK
  /** When an exchange of it last began from idle, or ended, in milliseconds. */
  movida = 0
  enTurno = false

  constructor(parte: Parte) {
    this.parte = parte
  }

  /** Where the first delivery stands of which no other of the same guide is under way; -1: nowhere. */
  primeraLibre(): number {
    return this.espera.findIndex(({ guia_id }) => !this.guiasEnVuelo.has(guia_id))
  }

  /** Whether all its exchanges have been waiting for longer than that. */
  estaColgada(ahora: number, ms: number): boolean {
    return this.enVuelo >= this.tope && ahora - this.movida > ms
  }
}

/** An exchange that may begin now: whose, and which. */
export interface Turno<T extends EnEspera, L extends Linea<T>> {
  readonly linea: L
  readonly entrega: T
  /** When it began, in milliseconds. */
  readonly inicio: number
}

/**
 * Says who may send now, so that nobody's slow receiver costs others: lines take turns, and an endpoint, a merchant and all
 * together have only so many exchanges under way and so many deliveries in memory. It knows neither clock nor network: every
 * instant is told to it, in milliseconds.
 */
export class Cupos<T extends EnEspera, L extends Linea<T>> {
  readonly #partes = new Map<string, Parte>()
  /** In the order in which they began. */
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

  /** The share of a merchant for one more of his lines. */
  abrir(comercio: string): Parte {
    const parte = this.#partes.get(comercio) ?? new Parte(comercio)
    this.#partes.set(comercio, parte)
    parte.lineas++
    return parte
  }

  /** Forgets a line, with what waits in it. */
  cerrar(linea: L): void {
    const { parte } = linea
    this.sacar(linea)
    parte.detenidas.delete(linea)
    if (--parte.lineas === 0) this.#partes.delete(parte.comercio)
  }

  /**
   * How many more deliveries of a line may be brought into memory. However full it is, a merchant of whom nothing waits gets
   * what one endpoint can send at once: others' slow receivers keep nobody out.
   */
  cabida({ espera, enVuelo, tope, parte }: L): number {
    if (tope === 1) return espera.length + enVuelo === 0 ? 1 : 0
    const suyas = parte.enEspera + parte.reservados
    const quedan = EN_ESPERA - this.#enEspera - this.#reservados
    const tocan = Math.min(EN_ESPERA_POR_COMERCIO, Math.floor(quedan / 8))
    return Math.max(0, Math.min(VENTANA - espera.length, Math.max(POR_WEBHOOK, tocan) - suyas))
  }

  /** Keeps places for deliveries of a line while they are being read, as many as are left; gives how many. */
  reservar(linea: L, cuantosQuiere: number): number {
    const cuantos = Math.min(cuantosQuiere, this.cabida(linea))
    linea.parte.reservados += cuantos
    this.#reservados += cuantos
    return cuantos
  }

  /** Gives back what {@link reservar} kept. */
  liberar({ parte }: L, cuantos: number): void {
    parte.reservados -= cuantos
    this.#reservados -= cuantos
  }

  /** Puts a delivery into its line: last, but before later events of its guide. */
  poner(linea: L, entrega: T): void {
    const { guia_id, secuencia } = entrega
    const posterior = linea.espera.findIndex((otra) => otra.guia_id === guia_id && otra.secuencia > secuencia)
    linea.espera.splice(posterior === -1 ? linea.espera.length : posterior, 0, entrega)
    linea.parte.enEspera++
    this.#enEspera++
    this.citar(linea)
  }

  /** Takes out of a line what waits in it, or some of that, and gives it. */
  sacar(linea: L, cuales: (entrega: T) => boolean = () => true): T[] {
    const fuera = linea.espera.filter(cuales)
    if (fuera.length === 0) return fuera
    const salen = new Set(fuera)
    linea.espera.splice(0, linea.espera.length, ...linea.espera.filter((entrega) => !salen.has(entrega)))
    linea.parte.enEspera -= fuera.length
    this.#enEspera -= fuera.length
    return fuera
  }

  /** Gives a line a place among those that take turns, if anything of it could go. */
  citar(linea: L): void {
    if (linea.enTurno || linea.enVuelo >= linea.tope || linea.primeraLibre() === -1) return
    linea.enTurno = true
    this.#turnos.push(linea)
  }

  /**
   * The next exchange that may begin now; undefined when there is none, or no room for one.
   * @param puede whether a line may be sent to just now; one that may not loses its place until it is summoned again
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

  /** An exchange is over: its place is free, and so is its guide's. */
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
