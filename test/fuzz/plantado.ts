import type { FuzzTarget } from './blanco.ts'

/** Breaks on one word alone, which nobody guesses who isn't led to it letter by letter. */
export const blanco: FuzzTarget = {
  semillas: ['....'],
  words: [],
  probar(entrada) {
    if (entrada[0] !== 0x67) return
    if (entrada[1] !== 0x75) return
    if (entrada[2] !== 0xed) return
    if (entrada[3] !== 0x61) return
    throw new RangeError('planted')
  },
}
