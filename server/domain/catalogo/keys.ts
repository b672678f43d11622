// Converts a place name to keys that do not depend on its spelling. Pure.

/** Maximum number of characters read. Every name is shorter, and more text only costs time. */
const LARGO = 120

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

const wordsOf = (texto: string): string[] =>
  texto
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
  let [desde, hasta] = [0, words.length]
  while (hasta - desde > 1 && GENERIC_WORDS.has(words[desde]!)) desde++
  for (;;) {
    if (hasta - desde > 2 && /^\d/.test(words[hasta - 1]!) && /^z(?:ona)?$/.test(words[hasta - 2]!)) hasta -= 2
    else if (hasta - desde > 1 && (GENERIC_WORDS.has(words[hasta - 1]!) || /^z\d+$/.test(words[hasta - 1]!))) hasta--
    else return words.slice(desde, hasta)
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
export function withoutZone(texto: string): string | undefined {
  const todas = wordsOf(texto.slice(0, LARGO))
  const rest = todas.filter((word) => !/^(?:zona|z?\d{1,2}|z)$/.test(word) && !CAPITAL_WORDS.has(word))
  if (rest.length === todas.length) return undefined
  return rest.filter((word) => !ARTICLES.has(word) && !GENERIC_WORDS.has(word)).join(' ')
}

/** Reports whether a text names a zone by its number («zona 10», «Z.10»). */
export const hasZone = (texto: string): boolean =>
  /(?:^|\W)z(?:ona)?\W{0,3}\d{1,2}(?:\W|$)/i.test(texto.slice(0, 2 * LARGO))

/**
 * Returns the keys of a name, from the most exact to the loosest: all words, without articles, without generic words.
 * Spaces do not count.
 * If a comma, a semicolon, a slash or a parenthesis follows the name, adds the same three keys of the text before it.
 */
export function nameKeysOf(texto: string): string[] {
  const trimmed = texto.length > LARGO ? texto.slice(0, LARGO) : texto
  const cutIndex = trimmed.search(/[,;(/]/)
  const claves = wholeNameKeys(trimmed)
  return cutIndex > 0 ? [...claves, ...wholeNameKeys(trimmed.slice(0, cutIndex))] : claves
}

function wholeNameKeys(texto: string): string[] {
  const todas = wordsOf(texto)
  // A text without Latin letters or digits names no place. An empty key would match every name in a search, but a space
  // matches none.
  if (todas.length === 0) return [' ', ' ', ' ']
  const core = withoutArticles(todas)
  return [todas.join(''), core.join(''), withoutGenericWords(core).join('')]
}
