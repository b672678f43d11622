/**
 * Reports whether the Levenshtein distance of two texts is at most `maximum`. Texts whose lengths differ by more are not
 * compared.
 */
function isWithin(a: string, b: string, maximum: number): boolean {
  if (Math.abs(a.length - b.length) > maximum) return false
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a].entries()) {
    const nextRow = [i + 1]
    for (let j = 1; j <= b.length; j++) {
      nextRow[j] = Math.min(row[j]! + 1, nextRow[j - 1]! + 1, row[j - 1]! + (letter === b[j - 1] ? 0 : 1))
    }
    row = nextRow
  }
  return row[b.length]! <= maximum
}

/** Reports whether a typed word probably means a known word: at most a quarter of its letters differ, but at least one. */
export const isSimilar = (written: string, known: string): boolean =>
  isWithin(written.toLowerCase(), known, Math.max(1, Math.floor(known.length / 4)))
