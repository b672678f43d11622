// Normalises words as people write them, so that different spellings of one name become equal. Pure functions.

import { remembering } from '../../platform/remember.ts'

/** `MAX_WORDS`: maximum words read from a name or place. `MAX_LETTERS`: maximum characters read from a word. */
const MAX_WORDS = 8
const MAX_LETTERS = 32

/** Words that people often omit from names, such as articles. */
const STOP_WORDS: ReadonlySet<string> = new Set('de del la las los el y e don dona sr sra srta'.split(' '))

/** Reports whether people often omit this word from names. */
export const isStopWord = (word: string): boolean => STOP_WORDS.has(word)

/** Text in ASCII. It needs no Unicode normalisation, which takes ten times longer. */
const ASCII = /^[\x20-\x7e]*$/

/** Returns a text in lower case, without accents and other diacritics. */
const toPlain = (text: string) =>
  (ASCII.test(text) ? text : text.normalize('NFKD').replace(/\p{M}+/gu, '')).toLowerCase()

/** Returns only the letters and digits of a text, in lower case and without accents. */
export const toAlphanumeric = (text: string): string => toPlain(text).replace(/[^\p{L}\p{N}]+/gu, '')

/** Splits a text into words of letters and digits, in lower case and without accents. */
export function textPartsOf(text: string): string[] {
  const plain = toPlain(text)
  return plain.match(ASCII.test(plain) ? /[a-z0-9]+/g : /[\p{L}\p{N}]+/gu) ?? []
}

export const digitsOf = (text: string): string => text.replace(/\D+/g, '')

/**
 * Replacements that make Spanish spellings with the same sound equal, applied in order. Silent `h` is removed first;
 * from then on `h` stands for `ch`.
 */
const SOUNDS: readonly (readonly [RegExp, string])[] = [
  [/ph/g, 'f'],
  [/(?<!c)h/g, ''],
  [/ch/g, 'h'],
  [/qu(?=[ei])|q|k|c(?![ei])/g, 'k'],
  [/c|z|x/g, 's'],
  [/gu?(?=[ei])/g, 'j'],
  [/ll/g, 'y'],
  [/y(?![aeiou])/g, 'i'],
  [/v/g, 'b'],
  [/n(?=[bp])/g, 'm'],
  [/(.)\1+/g, '$1'],
]

/** Articles that people also write together with the surname after them, such as «Delacruz» for «de la Cruz». */
const JOINED_ARTICLES = ['de', 'del', 'dela', 'delas', 'delos']
/** Minimum letters of a surname after a joined article. */
const MIN_AFTER_ARTICLE = 4

/** Returns a word without each of the articles that it may begin with; none for most words. */
export const withoutArticles = (word: string): string[] =>
  JOINED_ARTICLES.filter(
    (article) => word.startsWith(article) && word.length >= article.length + MIN_AFTER_ARTICLE,
  ).map((article) => word.slice(article.length))

/** Maximum number of cached results. Names and places repeat, and a look-up is cheaper than the rules. */
export const MAX_REMEMBERED = 20_000

/** Reduces a word to its sound, so that «Jiménez» and «Gimenes» become equal. */
export const soundOf = remembering(MAX_REMEMBERED, (word) =>
  /^[a-z]+$/.test(word) ? SOUNDS.reduce((reduced, [spelling, sound]) => reduced.replace(spelling, sound), word) : word,
)

/** Returns the words of a name or place, reduced to their sound. Leaves out words that people often omit. */
export const wordSoundsOf = (text: string): string[] =>
  textPartsOf(text)
    .filter((part) => !isStopWord(part))
    .slice(0, MAX_WORDS)
    .map((part) => soundOf(part.slice(0, MAX_LETTERS)))
    .filter((wordSound) => wordSound !== '')

/** Letters and digits that remain in words reduced to their sound. */
const LETTERS = [...'abdefghijklmnoprstuwy']
const DIGITS = [...'0123456789']

/**
 * Returns a word and all spellings that differ from it by one typing error: a missing, added or wrong letter, or two
 * neighbours exchanged. There are about 45 spellings per letter.
 */
export function similarWords(word: string): string[] {
  const alphabet = /^\d+$/.test(word) ? DIGITS : LETTERS
  const variants = new Set([word])
  for (let i = 0; i <= word.length; i++) {
    const [before, after] = [word.slice(0, i), word.slice(i)]
    for (const character of alphabet) {
      variants.add(before + character + after)
      if (after !== '') variants.add(before + character + after.slice(1))
    }
    if (after !== '') variants.add(before + after.slice(1))
    if (after.length > 1) variants.add(before + after[1] + after[0] + after.slice(2))
  }
  variants.delete('')
  return [...variants]
}
