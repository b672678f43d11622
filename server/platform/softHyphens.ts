/** Minimum letters of a word that may be wider than a phone's column with letters twice as large. */
const LONG_WORD = /\p{L}{12,}/gu
/** End of a Spanish syllable: a vowel and the consonants after it, before the consonants that begin the next syllable. */
const SYLLABLE_END =
  /[aeiouáéíóúü][bcdfghjklmnñpqrstvwxyz]{0,2}?(?=(?:[bcfgp]l|[bcdfgkpt]r|ch|ll|rr|[bcdfghjklmnñpqrstvwxyz])[aeiouáéíóúü])/giu
/** Minimum letters before and after a hyphen. */
const MIN_PART = 3

/**
 * Marks where long Spanish words may be divided, with soft hyphens (U+00AD). Browsers without a dictionary would break
 * such words at any letter.
 */
export const withSoftHyphens = (text: string): string =>
  text.replace(LONG_WORD, (word) =>
    word.replace(SYLLABLE_END, (syllable, offset: number) => {
      const end = offset + syllable.length
      return end >= MIN_PART && word.length - end >= MIN_PART ? `${syllable}\u00AD` : syllable
    }),
  )
