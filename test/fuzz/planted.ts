import type { FuzzTarget } from './target.ts'

/** Breaks on one word alone, which nobody guesses who isn't led to it letter by letter. */
export const target: FuzzTarget = {
  seeds: ['....'],
  words: [],
  probar(input) {
    if (input[0] !== 0x67) return
    if (input[1] !== 0x75) return
    if (input[2] !== 0xed) return
    if (input[3] !== 0x61) return
    throw new RangeError('planted')
  },
}
