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
type Lugar = readonly [seenCharacters: Uint8Array, index: number]

/** Which characters of the code under test have run, as V8 counts them; it must begin before that code is loaded. */
export class CodeCoverage {
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
    const sumOver = (de: (seenCharacters: Uint8Array) => number) =>
      allSeen.reduce((total, seenCharacters) => total + de(seenCharacters), 0)
    return `${sumOver((seenCharacters) => seenCharacters.filter(Boolean).length)}/${sumOver(({ length }) => length)}`
  }

  /** What ran since it was last asked and had never run before: places that {@link record} makes old. */
  newPlaces(): Lugar[] {
    const takeNew: Lugar[] = []
    for (const { url, functions } of this.#request<Profile>('Profiler.takePreciseCoverage').result) {
      if (!this.#de.test(url)) continue
      const ranCharacters = markRanges(functions)
      const seenCharacters = this.#seenHeartbeats.get(url) ?? new Uint8Array(ranCharacters.length)
      this.#seenHeartbeats.set(url, seenCharacters)
      for (let i = 0; i < ranCharacters.length; i++)
        if (ranCharacters[i] === 1 && seenCharacters[i] === 0) takeNew.push([seenCharacters, i])
    }
    return takeNew
  }

  record(places: readonly Lugar[]): void {
    for (const [seenCharacters, i] of places) seenCharacters[i] = 1
  }

  // An inspector of one's own thread answers before it returns.
  #request<T = unknown>(method: string, parameters: object = {}): T {
    let response: T | undefined
    this.#sesion.post(method, parameters, (error, result) => {
      if (error) throw error
      response = result as T
    })
    return response as T
  }
}

/** Where a script ran. Ranges are told from the outermost to the innermost, and only where their counts differ. */
function markRanges(functions: Profile['result'][number]['functions']): Uint8Array {
  const ranCharacters = new Uint8Array(Math.max(...functions.map(({ ranges }) => ranges[0]!.endOffset)))
  for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges))
    ranCharacters.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  return ranCharacters
}
