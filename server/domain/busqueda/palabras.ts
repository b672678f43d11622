// Normalises words as people write them, so that different spellings of one name become equal. Pure functions.

import { remembering } from '../../platform/remember.ts'

/** `MAX_PALABRAS`: maximum words read from a name or place. `MAX_LETRAS`: maximum characters read from a word. */
const MAX_PALABRAS = 8
const MAX_LETRAS = 32

/** Words that people often omit from names, such as articles. */
const VACIAS: ReadonlySet<string> = new Set('de del la las los el y e don dona sr sra srta'.split(' '))

/** Reports whether people often omit this word from names. */
export const esVacia = (palabra: string): boolean => VACIAS.has(palabra)

/** Text in ASCII. It needs no Unicode normalisation, which takes ten times longer. */
const ASCII = /^[\x20-\x7e]*$/

/** Returns a text in lower case, without accents and other diacritics. */
const llana = (texto: string) =>
  (ASCII.test(texto) ? texto : texto.normalize('NFKD').replace(/\p{M}+/gu, '')).toLowerCase()

/** Returns only the letters and digits of a text, in lower case and without accents. */
export const soloSignos = (texto: string): string => llana(texto).replace(/[^\p{L}\p{N}]+/gu, '')

/** Splits a text into words of letters and digits, in lower case and without accents. */
export function partesDe(texto: string): string[] {
  const signos = llana(texto)
  return signos.match(ASCII.test(signos) ? /[a-z0-9]+/g : /[\p{L}\p{N}]+/gu) ?? []
}

/** Returns the digits of a text. */
export const cifrasDe = (texto: string): string => texto.replace(/\D+/g, '')

/**
 * Replacements that make Spanish spellings with the same sound equal, applied in order. Silent `h` is removed first;
 * from then on `h` stands for `ch`.
 */
const SONIDOS: readonly (readonly [RegExp, string])[] = [
  [/ph/g, 'f'],
  [/(?<!c)h/g, ''],
  [/ch/g, 'h'],
  [/qu(?=[ei])|q|k|c(?![ei])/g, 'k'],
  [/c|z/g, 's'],
  [/gu?(?=[ei])/g, 'j'],
  [/ll/g, 'y'],
  [/y(?![aeiou])/g, 'i'],
  [/v/g, 'b'],
  [/n(?=[bp])/g, 'm'],
  [/(.)\1+/g, '$1'],
]

/** Maximum number of cached results. Names and places repeat, and a look-up is cheaper than the rules. */
export const MAX_RECORDADOS = 20_000

/** Reduces a word to its sound, so that «Jiménez» and «Gimenes» become equal. */
export const sonidoDe = remembering(MAX_RECORDADOS, (palabra) =>
  /^[a-z]+$/.test(palabra)
    ? SONIDOS.reduce((hasta, [escrito, dicho]) => hasta.replace(escrito, dicho), palabra)
    : palabra,
)

/** Returns the words of a name or place, reduced to their sound. Leaves out words that people often omit. */
export const palabrasDe = (texto: string): string[] =>
  partesDe(texto)
    .filter((parte) => !esVacia(parte))
    .slice(0, MAX_PALABRAS)
    .map((parte) => sonidoDe(parte.slice(0, MAX_LETRAS)))
    .filter((sonido) => sonido !== '')

/** Letters and digits that remain in words reduced to their sound. */
const LETRAS = [...'abdefghijklmnoprstuwxy']
const CIFRAS = [...'0123456789']

/**
 * Returns a word and all spellings that differ from it by one typing error: a missing, added or wrong letter, or two
 * neighbours exchanged. There are about 45 spellings per letter.
 */
export function parecidas(palabra: string): string[] {
  const signos = /^\d+$/.test(palabra) ? CIFRAS : LETRAS
  const otras = new Set([palabra])
  for (let i = 0; i <= palabra.length; i++) {
    const [antes, despues] = [palabra.slice(0, i), palabra.slice(i)]
    for (const signo of signos) {
      otras.add(antes + signo + despues)
      if (despues !== '') otras.add(antes + signo + despues.slice(1))
    }
    if (despues !== '') otras.add(antes + despues.slice(1))
    if (despues.length > 1) otras.add(antes + despues[1] + despues[0] + despues.slice(2))
  }
  otras.delete('')
  return [...otras]
}
