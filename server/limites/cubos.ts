/** How fast something may go: so many a second in the long run, and so many at once after a rest. */
export interface Ritmo {
  porSegundo: number
  rafaga: number
}

/** So many a minute, all of them at once if need be. */
export const porMinuto = (veces: number): Ritmo => ({ porSegundo: veces / 60, rafaga: veces })

interface Cubo extends Ritmo {
  readonly clave: string
  fichas: number
  contado_en: number
  /** Neighbours in the order of last use: the one used before this one, and the one used after it. */
  anterior: Cubo
  siguiente: Cubo
}

/** Times `maximo` that buckets which aren't full may be. */
export const RECUERDO = 5

export interface OpcionesDeCubos {
  /** How many processes share each rhythm evenly, at this moment. */
  procesos?: () => number
  /** In milliseconds, of which only differences count. */
  reloj?: () => number
  /** Beyond so many keys full buckets are forgotten, the one used longest ago first. */
  maximo?: number
}

/**
 * Token buckets by key, in this process's memory: asking costs no round trip. Forgetting a full bucket changes nothing, since
 * a new one is full, too. Others are only forgotten beyond {@link RECUERDO} times `maximo`; until the last of them would be
 * full, new buckets start with what it would have, and with one token at least.
 */
export class Cubos {
  readonly #cubos = new Map<string, Cubo>()
  /** Head of the ring of all buckets: the next one was used longest ago, the previous one last. */
  readonly #cabeza = crearCabeza()
  /** Time at which the last of the buckets that were forgotten too early would be full. */
  #olvidadosHasta = Number.NEGATIVE_INFINITY
  readonly #procesos: () => number
  readonly #reloj: () => number
  readonly #maximo: number
  /** Buckets that are added between two looks at what can be forgotten. */
  readonly #porVez: number
  #nuevos = 0

  constructor({ procesos = () => 1, reloj = () => performance.now(), maximo = 10_000 }: OpcionesDeCubos = {}) {
    this.#procesos = procesos
    this.#reloj = reloj
    this.#maximo = maximo
    this.#porVez = Math.ceil(maximo / 100)
  }

  /** Buckets held. */
  get cuantos(): number {
    return this.#cubos.size
  }

  /** Number of processes that share each rate at this moment. */
  get procesos(): number {
    return this.#procesos()
  }

  /** This process's share of a rhythm; at least one at a time. */
  parte({ porSegundo, rafaga }: Ritmo): Ritmo {
    const procesos = this.#procesos()
    return { porSegundo: porSegundo / procesos, rafaga: rafagaDe(rafaga, procesos) }
  }

  /**
   * Takes what something costs. A bucket with one token left may give more and then owes them, so that an expensive
   * request needs no share that holds all of its cost.
   * @returns the seconds to wait, and nothing was taken; 0: go ahead
   */
  tomar(clave: string, ritmo: Ritmo, costo = 1): number {
    const procesos = this.#procesos()
    const porSegundo = ritmo.porSegundo / procesos
    const cubo = this.#alDia(clave, porSegundo, rafagaDe(ritmo.rafaga, procesos))
    if (cubo.fichas < 1) return Math.max(1, Math.ceil((1 - cubo.fichas) / porSegundo))
    cubo.fichas -= costo
    return 0
  }

  /** Gives back what was taken and isn't needed. */
  devolver(clave: string, costo: number): void {
    const cubo = this.#cubos.get(clave)
    if (cubo) cubo.fichas += costo
  }

  /** What is left, whole tokens, and the seconds until nothing is missing. */
  quedan(clave: string, ritmo: Ritmo): { quedan: number; enteroEn: number } {
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

  /** Tokens of a new bucket. */
  #alEmpezar(ahora: number, porSegundo: number, rafaga: number): number {
    if (ahora >= this.#olvidadosHasta) return rafaga
    return Math.max(1, rafaga - ((this.#olvidadosHasta - ahora) / 1_000) * porSegundo)
  }

  /** Forgets full buckets. Looks at twice as many as were added since, so that many full ones are soon gone. */
  #hacerSitio(ahora: number): void {
    this.#nuevos = 0
    for (let mirar = 2 * this.#porVez; mirar > 0 && this.#cubos.size >= this.#maximo; mirar--) {
      const cubo = this.#cabeza.siguiente
      const llenoEn = cubo.contado_en + ((cubo.rafaga - cubo.fichas) / cubo.porSegundo) * 1_000
      // One that isn't full goes behind the others, or it would keep them from being looked at.
      if (llenoEn > ahora && this.#cubos.size <= RECUERDO * this.#maximo - this.#porVez) this.#ponerUltimo(cubo)
      else {
        if (llenoEn > ahora) this.#olvidadosHasta = Math.max(this.#olvidadosHasta, llenoEn)
        soltar(cubo)
        this.#cubos.delete(cubo.clave)
      }
    }
  }

  /** Moves a bucket to the end of the ring. Deleting it from the Map and setting it again would cost a rehash every few requests. */
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

/** Takes a bucket out of its ring. */
function soltar({ anterior, siguiente }: Cubo): void {
  anterior.siguiente = siguiente
  siguiente.anterior = anterior
}

/** A limit says for how many seconds whoever `clave` names has to wait; 0 lets him go ahead. */
export type Limite = (clave: string) => number

/** Limit of so many a minute, all of them at once if need be. */
export function crearLimite(veces: number, opciones: OpcionesDeCubos = {}): Limite {
  const cubos = new Cubos(opciones)
  const ritmo = porMinuto(veces)
  return (clave) => cubos.tomar(clave, ritmo)
}
