// Finds the names that a misspelled text may mean. Pure.
import { nameKeysOf } from './keys.ts'

export interface Nombre {
  nombre: string
  /** Key of the name that ignores most differences in spelling: the last key of `nameKeysOf`. */
  clave: string
}

/** Number of characters of a key that are compared, which bounds the cost. No name is longer. */
const LENGTH = 40
/** Maximum edit distance. A greater distance means a different name. */
const MAX_DISTANCE = 4

/**
 * Returns up to `limit` names nearest to a text by edit distance. The distance is at most a third of the text's
 * length, and at most 4.
 */
export function nearestNames(text: string, names: readonly Nombre[], limit: number): string[] {
  const key = nameKeysOf(text).at(-1)!.slice(0, LENGTH)
  if (key.trim() === '') return []
  let maxDistance = Math.min(MAX_DISTANCE, Math.max(1, Math.floor(key.length / 3)))
  const best: { nombre: string; distance: number }[] = []
  for (const { nombre, clave: candidateKey } of names) {
    // The beginning of a name is near, however much of the name is missing.
    const distance = key.length > 3 && candidateKey.startsWith(key) ? 1 : editDistance(key, candidateKey, maxDistance)
    if (distance > maxDistance || best.some((other) => other.nombre === nombre)) continue
    const position = best.findIndex((other) => other.distance > distance)
    best.splice(position < 0 ? best.length : position, 0, { nombre, distance })
    if (best.length > limit) best.pop()
    // Once the list is full, the distance of its last name becomes the bound. The smaller bound makes the search cheap.
    if (best.length === limit) maxDistance = best.at(-1)!.distance
  }
  return best.map(({ nombre }) => nombre)
}

let [previousRow, currentRow, rowBeforePrevious] = [0, 0, 0].map(() => new Uint8Array(LENGTH * 2 + 2)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
]

/**
 * Edit distance of two keys: insertions, deletions, substitutions and swaps of neighbours. Returns a number above
 * `maxDistance` if the distance is greater than `maxDistance`.
 */
function editDistance(a: string, b: string, maxDistance: number): number {
  const n = b.length > LENGTH ? LENGTH : b.length
  if (Math.abs(a.length - n) > maxDistance) return maxDistance + 1
  for (let j = 0; j <= n; j++) previousRow[j] = j
  let previousMin = 0
  for (let i = 1; i <= a.length; i++) {
    // Only cells at most `maxDistance` away from the diagonal can stay within the bound. The cells at both edges of this band
    // count as too far.
    const [from, until] = [Math.max(1, i - maxDistance), Math.min(n, i + maxDistance)]
    currentRow[from - 1] = from === 1 ? i : maxDistance + 1
    let rowMin = currentRow[from - 1]!
    const ca = a.charCodeAt(i - 1)
    for (let j = from; j <= until; j++) {
      const cb = b.charCodeAt(j - 1)
      let cost = previousRow[j - 1]!
      if (ca !== cb) {
        cost = 1 + Math.min(cost, previousRow[j]!, currentRow[j - 1]!)
        const areSwapped = i > 1 && j > 1 && ca === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === cb
        if (areSwapped && rowBeforePrevious[j - 2]! + 1 < cost) cost = rowBeforePrevious[j - 2]! + 1
      }
      currentRow[j] = cost
      if (cost < rowMin) rowMin = cost
    }
    if (until < n) currentRow[until + 1] = maxDistance + 1
    // A swap uses the row before the previous one, so the search stops only when two rows exceed the bound.
    if (rowMin > maxDistance && previousMin >= maxDistance) return maxDistance + 1
    previousMin = rowMin
    ;[rowBeforePrevious, previousRow, currentRow] = [previousRow, currentRow, rowBeforePrevious]
  }
  return previousRow[n]!
}
