/**
 * Reports whether the Levenshtein distance of two texts is at most `maximo`. Texts whose lengths differ by more are not
 * compared.
 */
function isWithin(a: string, b: string, maximo: number): boolean {
  if (Math.abs(a.length - b.length) > maximo) return false
  let fila = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letra] of [...a].entries()) {
    const siguiente = [i + 1]
    for (let j = 1; j <= b.length; j++) {
      siguiente[j] = Math.min(fila[j]! + 1, siguiente[j - 1]! + 1, fila[j - 1]! + (letra === b[j - 1] ? 0 : 1))
    }
    fila = siguiente
  }
  return fila[b.length]! <= maximo
}

/** Reports whether a typed word probably means a known word: at most a quarter of its letters differ, but at least one. */
export const isSimilar = (escrita: string, conocida: string): boolean =>
  isWithin(escrita.toLowerCase(), conocida, Math.max(1, Math.floor(conocida.length / 4)))
