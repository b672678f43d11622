/** Rate: the average number per second (`porSegundo`), and the number admitted at once after a rest (`rafaga`). */
export interface Rate {
  porSegundo: number
  rafaga: number
}

/** Returns a rate of `veces` per minute, all of which may come at once. */
export const perMinute = (veces: number): Rate => ({ porSegundo: veces / 60, rafaga: veces })

interface Cubo extends Rate {
  readonly clave: string
  fichas: number
  contado_en: number
  /** Neighbours in the order of last use: the bucket used before this bucket, and the bucket used after it. */
  anterior: Cubo
  siguiente: Cubo
}

/** Number of buckets, as a multiple of `maximo`, above which buckets are dropped even if they are not full. */
export const MEMORY_FACTOR = 5

/** Options of {@link Buckets}. */
export interface BucketOptions {
  /** Returns the number of processes that share each rate evenly at this moment. */
  procesos?: () => number
  /** Returns the time in milliseconds, of which only differences count. */
  reloj?: () => number
  /** Number of keys above which full buckets are dropped, the least recently used first. */
  maximo?: number
}

/**
 * Token buckets by key, in the memory of this process, so that a check costs no round trip. Dropping a full bucket
 * changes nothing, because a new bucket is full, too. Other buckets are dropped only above {@link MEMORY_FACTOR} times
 * `maximo`. Until the last of them would be full, new buckets start with the tokens that this bucket would have, but at
 * least one token.
 */
export class Buckets {
  readonly #cubos = new Map<string, Cubo>()
  /**
   * Head of the ring of all buckets. The next bucket in the ring was used longest ago, the previous bucket most
   * recently.
   */
  readonly #cabeza = crearCabeza()
  /** Time at which the last of the buckets that were dropped before they were full would be full. */
  #olvidadosHasta = Number.NEGATIVE_INFINITY
  readonly #procesos: () => number
  readonly #reloj: () => number
  readonly #maximo: number
  /** Number of buckets added between two searches for buckets to drop. */
  readonly #porVez: number
  #nuevos = 0

  constructor({ procesos = () => 1, reloj = () => performance.now(), maximo = 10_000 }: BucketOptions = {}) {
    this.#procesos = procesos
    this.#reloj = reloj
    this.#maximo = maximo
    this.#porVez = Math.ceil(maximo / 100)
  }

  /** Number of buckets in memory. */
  get size(): number {
    return this.#cubos.size
  }

  /** Number of processes that share each rate at this moment. */
  get procesos(): number {
    return this.#procesos()
  }

  /** Returns this process's share of a rate, with a burst of at least 1. */
  parte({ porSegundo, rafaga }: Rate): Rate {
    const procesos = this.#procesos()
    return { porSegundo: porSegundo / procesos, rafaga: rafagaDe(rafaga, procesos) }
  }

  /**
   * Takes tokens from a bucket. A bucket with one token left may give more, and then has a negative number of tokens.
   * An expensive request can therefore pass even if the burst of this process's share is smaller than the cost.
   * @returns seconds to wait if nothing was taken; 0 if the tokens were taken
   */
  take(clave: string, ritmo: Rate, costo = 1): number {
    const procesos = this.#procesos()
    const porSegundo = ritmo.porSegundo / procesos
    const cubo = this.#alDia(clave, porSegundo, rafagaDe(ritmo.rafaga, procesos))
    if (cubo.fichas < 1) return Math.max(1, Math.ceil((1 - cubo.fichas) / porSegundo))
    cubo.fichas -= costo
    return 0
  }

  /** Gives back tokens that were taken but not needed. */
  giveBack(clave: string, costo: number): void {
    const cubo = this.#cubos.get(clave)
    if (cubo) cubo.fichas += costo
  }

  /** Returns the whole tokens left, and the seconds until the bucket is full. */
  remaining(clave: string, ritmo: Rate): { quedan: number; enteroEn: number } {
    const procesos = this.#procesos()
    const porSegundo = ritmo.porSegundo / procesos
    const rafaga = rafagaDe(ritmo.rafaga, procesos)
    const { fichas } = this.#alDia(clave, porSegundo, rafaga)
    return { quedan: Math.max(0, Math.floor(fichas)), enteroEn: Math.ceil((rafaga - fichas) / porSegundo) }
  }

  #alDia(clave: string, porSegundo: number, rafaga: number): Cubo {
    const ahora = this.#reloj()
    const cubo = this.#cubos.get(clave) ?? this.#nuevo(clave, ahora, porSegundo, rafaga)
    cubo.fichas = Math.min(rafaga, cubo.fichas + ((ahora - cubo.contado_en) / 1_000) * porSegundo)
    cubo.contado_en = ahora
    cubo.porSegundo = porSegundo
    cubo.rafaga = rafaga
    this.#ponerUltimo(cubo)
    return cubo
  }

  #nuevo(clave: string, ahora: number, porSegundo: number, rafaga: number): Cubo {
    if (this.#cubos.size >= this.#maximo && ++this.#nuevos >= this.#porVez) this.#hacerSitio(ahora)
    const cabeza = this.#cabeza
    const fichas = this.#alEmpezar(ahora, porSegundo, rafaga)
    const cubo: Cubo = { clave, fichas, contado_en: ahora, porSegundo, rafaga, anterior: cabeza, siguiente: cabeza }
    this.#cubos.set(clave, cubo)
    ponerAntesDe(cabeza, cubo)
    return cubo
  }

  /** Returns the initial tokens of a new bucket. */
  #alEmpezar(ahora: number, porSegundo: number, rafaga: number): number {
    if (ahora >= this.#olvidadosHasta) return rafaga
    return Math.max(1, rafaga - ((this.#olvidadosHasta - ahora) / 1_000) * porSegundo)
  }

  /**
   * Drops full buckets. Examines twice as many buckets as were added since the last search, so that many full buckets
   * are soon gone.
   */
  #hacerSitio(ahora: number): void {
    this.#nuevos = 0
    for (let mirar = 2 * this.#porVez; mirar > 0 && this.#cubos.size >= this.#maximo; mirar--) {
      const cubo = this.#cabeza.siguiente
      const llenoEn = cubo.contado_en + ((cubo.rafaga - cubo.fichas) / cubo.porSegundo) * 1_000
      // A bucket that is not full moves to the end of the ring. It would otherwise stay at the front, and the loop
      // would examine no other bucket.
      if (llenoEn > ahora && this.#cubos.size <= MEMORY_FACTOR * this.#maximo - this.#porVez) this.#ponerUltimo(cubo)
      else {
        if (llenoEn > ahora) this.#olvidadosHasta = Math.max(this.#olvidadosHasta, llenoEn)
        soltar(cubo)
        this.#cubos.delete(cubo.clave)
      }
    }
  }

  /**
   * Moves a bucket to the end of the ring, the position of the bucket used last. Deleting it from the Map and adding it
   * again would cost a rehash every few requests.
   */
  #ponerUltimo(cubo: Cubo): void {
    if (this.#cabeza.anterior === cubo) return
    soltar(cubo)
    ponerAntesDe(this.#cabeza, cubo)
  }
}

const rafagaDe = (rafaga: number, procesos: number) => Math.max(1, rafaga / procesos)

function crearCabeza(): Cubo {
  const cabeza = { clave: '', fichas: 0, contado_en: 0, porSegundo: 0, rafaga: 0 } as Cubo
  cabeza.anterior = cabeza
  cabeza.siguiente = cabeza
  return cabeza
}

function ponerAntesDe(siguiente: Cubo, cubo: Cubo): void {
  const { anterior } = siguiente
  cubo.anterior = anterior
  cubo.siguiente = siguiente
  anterior.siguiente = cubo
  siguiente.anterior = cubo
}

/** Removes a bucket from its ring. */
function soltar({ anterior, siguiente }: Cubo): void {
  anterior.siguiente = siguiente
  siguiente.anterior = anterior
}

/** Rate limit: takes one token of a key, and returns the seconds to wait, or 0 if the caller may continue. */
export type Limit = (clave: string) => number

/** Creates a limit of `veces` per minute for each key, all of which may come at once. */
export function createLimit(veces: number, opciones: BucketOptions = {}): Limit {
  const cubos = new Buckets(opciones)
  const ritmo = perMinute(veces)
  return (clave) => cubos.take(clave, ritmo)
}
