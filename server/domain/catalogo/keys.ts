// Converts a place name to keys that do not depend on its spelling. Pure.

/** Maximum number of characters read. Every name is shorter, and more text only costs time. */
const LENGTH = 120

const ABBREVIATIONS = new Map([
  ['sn', 'san'],
  ['sta', 'santa'],
  ['sto', 'santo'],
  ['stgo', 'santiago'],
  ['cd', 'ciudad'],
  ['cdad', 'ciudad'],
  ['ma', 'maria'],
  ['pto', 'puerto'],
  ['pta', 'punta'],
  ['pte', 'puente'],
  ['nva', 'nueva'],
  ['nvo', 'nuevo'],
  ['fco', 'francisco'],
  ['gpe', 'guadalupe'],
  ['gral', 'general'],
  ['sac', 'sacatepequez'],
])

const ARTICLES = new Set(['el', 'la', 'los', 'las', 'de', 'del', 'y', 'e'])

/** Generic words that people write beside a name to say what kind of place it is. */
const GENERIC_WORDS = new Set(
  `ciudad municipio municipalidad muni mun mpio mcpio departamento depto dpto dep depart departement department
  provincia prov estado edo comarca canton distrito city`.split(/\s+/),
)

const wordsOf = (text: string): string[] =>
  text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]+/g, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .map((word) => ABBREVIATIONS.get(word) ?? word)

const withoutArticles = (words: readonly string[]) => {
  const rest = words.filter((word) => !ARTICLES.has(word))
  return rest.length > 0 ? rest : words
}

/** Removes generic words before a name («Municipio de…») and after it («City», «zona 10»). */
function withoutGenericWords(words: readonly string[]): readonly string[] {
  let [from, until] = [0, words.length]
  while (until - from > 1 && GENERIC_WORDS.has(words[from]!)) from++
  for (;;) {
    if (until - from > 2 && /^\d/.test(words[until - 1]!) && /^z(?:ona)?$/.test(words[until - 2]!)) until -= 2
    else if (until - from > 1 && (GENERIC_WORDS.has(words[until - 1]!) || /^z(?:ona)?\d+$/.test(words[until - 1]!)))
      until--
    else return words.slice(from, until)
  }
}

/** Words for the capital itself, and for a part of it, that people write in place of its name. */
const CAPITAL_WORDS = new Set([
  'capital',
  'capitalino',
  'capitalina',
  'metropolitana',
  'cabecera',
  'centro',
  'casco',
  'urbano',
  'historico',
])

/**
 * Returns what is left of a text without the words for a zone («zona 10», «Z.10») and for the capital («la capital»).
 * Undefined if the text has none of these words.
 */
export function withoutZone(text: string): string | undefined {
  const todas = wordsOf(text.slice(0, LENGTH))
  const rest = todas.filter((word) => !/^(?:(?:z(?:ona)?)?\d{1,2}|z(?:ona)?)$/.test(word) && !CAPITAL_WORDS.has(word))
  if (rest.length === todas.length) return undefined
  return rest.filter((word) => !ARTICLES.has(word) && !GENERIC_WORDS.has(word)).join(' ')
}

/** Reports whether a text names a zone by its number («zona 10», «Z.10»). */
export const hasZone = (text: string): boolean =>
  /(?:^|\W)z(?:ona)?\W{0,3}\d{1,2}(?:\W|$)/i.test(text.slice(0, 2 * LENGTH))

/**
 * Returns the keys of a name, from the most exact to the loosest: all words, without articles, without generic words.
 * Spaces do not count.
 * If a comma, a semicolon, a slash or a parenthesis follows the name, adds the same three keys of the text before it.
 */
export function nameKeysOf(text: string): string[] {
  const trimmed = text.length > LENGTH ? text.slice(0, LENGTH) : text
  const cutIndex = trimmed.search(/[,;(/]/)
  const keys = wholeNameKeys(trimmed)
  return cutIndex > 0 ? [...keys, ...wholeNameKeys(trimmed.slice(0, cutIndex))] : keys
}

function wholeNameKeys(text: string): string[] {
  const todas = wordsOf(text)
  // A text without Latin letters or digits names no place. An empty key would match every name in a search, but a space
  // matches none.
  if (todas.length === 0) return [' ', ' ', ' ']
  const core = withoutArticles(todas)
  return [todas.join(''), core.join(''), withoutGenericWords(core).join('')]
}
