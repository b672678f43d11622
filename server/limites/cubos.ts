/** How fast something may go: so many a second in the long run, and so many at once after a rest. */
export interface Ritmo {
  porSegundo: number
  rafaga: number
}

interface Cubo {
  fichas: number
  contado_en: number
}

export interface OpcionesDeCubos {
  /** How many processes share each rhythm evenly, at this moment. */
  procesos?: () => number
  /** In milliseconds, of which only differences count. */
  reloj?: () => number
  /** Beyond so many keys the one that was used longest ago is forgotten, and so starts afresh. */
  maximo?: number
}

/** Token buckets by key, in this process's memory: asking costs no round trip. */
export class Cubos {
  readonly #cubos = new Map<string, Cubo>()
  readonly #procesos: () => number
  readonly #reloj: () => number
  readonly #maximo: number

  constructor({ procesos = () => 1, reloj = () => performance.now(), maximo = 10_000 }: OpcionesDeCubos = {}) {
    this.#procesos = procesos
    this.#reloj = reloj
    this.#maximo = maximo
  }

  /** This process's share of a rhythm; at least one at a time. */
  parte({ porSegundo, rafaga }: Ritmo): Ritmo {
    const procesos = this.#procesos()
    return { porSegundo: porSegundo / procesos, rafaga: Math.max(1, rafaga / procesos) }
  }

  /**
   * Takes what something costs. A bucket with one token left may give more and then owes them, so that an expensive
   * request needs no share that holds all of its cost.
   * @returns the seconds to wait, and nothing was taken; 0: go ahead
   */
  tomar(clave: string, ritmo: Ritmo, costo = 1): number {
    const { porSegundo, rafaga } = this.parte(ritmo)
    const cubo = this.#alDia(clave, porSegundo, rafaga)
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
    const { porSegundo, rafaga } = this.parte(ritmo)
    const { fichas } = this.#alDia(clave, porSegundo, rafaga)
    return { quedan: Math.max(0, Math.floor(fichas)), enteroEn: Math.ceil((rafaga - fichas) / porSegundo) }
  }

  #alDia(clave: string, porSegundo: number, rafaga: number): Cubo {
    const ahora = this.#reloj()
    const viejo = this.#cubos.get(clave)
    const cubo = viejo ?? { fichas: rafaga, contado_en: ahora }
    cubo.fichas = Math.min(rafaga, cubo.fichas + ((ahora - cubo.contado_en) / 1_000) * porSegundo)
    cubo.contado_en = ahora
    // A Map keeps the order of insertion: the first is always the one used longest ago.
    if (viejo) this.#cubos.delete(clave)
    else if (this.#cubos.size >= this.#maximo) this.#cubos.delete(this.#cubos.keys().next().value!)
    this.#cubos.set(clave, cubo)
    return cubo
  }
}

/** A limit says for how many seconds whoever `clave` names has to wait; 0 lets him go ahead. */
export type Limite = (clave: string) => number

/** Limit of so many a minute, all of them at once if need be. */
export function crearLimite(porMinuto: number, opciones: OpcionesDeCubos = {}): Limite {
  const cubos = new Cubos(opciones)
  const ritmo = { porSegundo: porMinuto / 60, rafaga: porMinuto }
  return (clave) => cubos.tomar(clave, ritmo)
}
