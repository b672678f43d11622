import { Session } from 'node:inspector'

interface Rango {
  startOffset: number
  endOffset: number
  count: number
}
interface Profile {
  result: { url: string; functions: { ranges: Rango[] }[] }[]
}

/** A place in the code: what is known of its module, and a character of it. */
type Lugar = readonly [vistos: Uint8Array, caracter: number]

/** Which characters of the code under test have run, as V8 counts them; it must begin before that code is loaded. */
export class Cobertura {
  readonly #sesion = new Session()
  readonly #de: RegExp
  readonly #seenHeartbeats = new Map<string, Uint8Array>()

  /** @param de the addresses of the modules that count */
  constructor(de: RegExp) {
    this.#de = de
    this.#sesion.connect()
    this.#request('Profiler.enable')
    this.#request('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** How many characters have run so far, of how many. */
  get ratio(): string {
    const allSeen = [...this.#seenHeartbeats.values()]
    const suma = (de: (vistos: Uint8Array) => number) => allSeen.reduce((total, vistos) => total + de(vistos), 0)
    return `${suma((vistos) => vistos.filter(Boolean).length)}/${suma(({ length }) => length)}`
  }

  /** What ran since it was last asked and had never run before: places that {@link record} makes old. */
  nuevo(): Lugar[] {
    const nuevo: Lugar[] = []
    for (const { url, functions } of this.#request<Profile>('Profiler.takePreciseCoverage').result) {
      if (!this.#de.test(url)) continue
      const corridos = pintar(functions)
      const vistos = this.#seenHeartbeats.get(url) ?? new Uint8Array(corridos.length)
      this.#seenHeartbeats.set(url, vistos)
      for (let i = 0; i < corridos.length; i++) if (corridos[i] === 1 && vistos[i] === 0) nuevo.push([vistos, i])
    }
    return nuevo
  }

  record(lugares: readonly Lugar[]): void {
    for (const [vistos, i] of lugares) vistos[i] = 1
  }

  // An inspector of one's own thread answers before it returns.
  #request<T = unknown>(metodo: string, parameters: object = {}): T {
    let respuesta: T | undefined
    this.#sesion.post(metodo, parameters, (error, result) => {
      if (error) throw error
      respuesta = result as T
    })
    return respuesta as T
  }
}

/** Where a script ran. Ranges are told from the outermost to the innermost, and only where their counts differ. */
function pintar(funciones: Profile['result'][number]['functions']): Uint8Array {
  const corridos = new Uint8Array(Math.max(...funciones.map(({ ranges }) => ranges[0]!.endOffset)))
  for (const { startOffset, endOffset, count } of funciones.flatMap(({ ranges }) => ranges))
    corridos.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  return corridos
}
