/**
 * Search of the documentation: pure functions that find and rank chapters, sections, operations, schemas and errors.
 */

/** Result that a search can find: a chapter, a section, an operation, a schema or an error. */
export interface SearchPart {
  clase: 'Capítulo' | 'Apartado' | 'Operación' | 'Objeto' | 'Error'
  titulo: string
  /** Address from the service root, such as `docs/lotes` or `docs#/guias/crearguia`. */
  lugar: string
  /**
   * Origin or technical name: the chapter of a section, the method and path of an operation, the schema of an object,
   * or the status and title of an error.
   */
  de?: string
  /** Further search terms, which are not shown: words, or phrases separated by commas. */
  claves: string
  texto: string
}

/**
 * Factors by which the score of each kind of result is multiplied. A chapter explains what an operation does, and both
 * say more than an object's name.
 */
const KIND_WEIGHTS: Readonly<Record<SearchPart['clase'], number>> = {
  Capítulo: 1.35,
  Apartado: 1.15,
  Operación: 1.2,
  Error: 1,
  Objeto: 0.6,
}
const CAMPOS = [
  ['titulo', 10],
  ['de', 5],
  ['claves', 5],
  ['texto', 1],
] as const
/**
 * Scores of a word that only resembles the requested word: `comienzo` begins with it, `family` shares most of its
 * letters from the start, `typos` differs by typing errors.
 */
const NEAR_SCORES = { beginning: 0.7, family: 0.5, typos: 0.45 }
const STOP_WORDS = new Set(
  'a al como con cual cuando de del donde el en es hay la las lo los me mi no o para por que se si sin su sus un una y'.split(
    ' ',
  ),
)

const withoutAccents = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
/** Splits a text into lower-case words of letters and digits, without accents. */
export const wordsOf = (text: string) => withoutAccents(text).match(/[a-z0-9]+/g) ?? []
/** Removes a plural ending or a final `e`: «errores» equals «error», and «lote» equals «lotes». */
const singularOf = (word: string) => (word.length > 3 ? word.replace(/(?:e?s|e)$/, '') : word)
/** Writes letters that sound alike in Spanish the same: «etiketa» equals «etiqueta», and «embío» equals «envío». */
const soundOf = (word: string) =>
  word
    .replace(/qu(?=[ei])|c(?=[aou]|$)|q/g, 'k')
    .replace(/c(?=[ei])|z/g, 's')
    .replace(/ll/g, 'y')
    .replace(/v/g, 'b')
    .replace(/mb/g, 'nb')
    .replace(/^h(?=[aeiou])/, '')
const stem = (word: string) => soundOf(singularOf(word))

/**
 * Tells whether the edit distance of two words is at most `faltas`. An edit adds, leaves out or changes a letter, or
 * swaps two neighbouring letters.
 */
function areSimilar(term: string, otherTerm: string, faltas: number): boolean {
  if (Math.abs(term.length - otherTerm.length) > faltas) return false
  let [beforePrevious, previous] = [[] as number[], Array.from({ length: otherTerm.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= term.length; i++) {
    const row = [i]
    for (let j = 1; j <= otherTerm.length; j++) {
      const substitution = term[i - 1] === otherTerm[j - 1] ? 0 : 1
      row[j] = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + substitution)
      if (i > 1 && j > 1 && term[i - 1] === otherTerm[j - 2] && term[i - 2] === otherTerm[j - 1]) {
        row[j] = Math.min(row[j]!, beforePrevious[j - 2]! + 1)
      }
    }
    beforePrevious = previous
    previous = row
  }
  return previous[otherTerm.length]! <= faltas
}

function commonPrefixLength(term: string, otherTerm: string): number {
  let i = 0
  while (i < term.length && term[i] === otherTerm[i]) i++
  return i
}

/** Returns the similarity of two words, from 0 (different words) to 1 (the same word). */
function similarityOf(requestedWord: string, word: string): number {
  if (requestedWord === word) return 1
  if (word.startsWith(requestedWord) && requestedWord.length > 1) return NEAR_SCORES.beginning
  if (/\d/.test(requestedWord)) return 0
  const sharedLength = commonPrefixLength(requestedWord, word)
  if (sharedLength >= 5 && sharedLength >= 0.6 * Math.max(requestedWord.length, word.length)) return NEAR_SCORES.family
  const faltas = requestedWord.length >= 8 ? 2 : requestedWord.length >= 4 ? 1 : 0
  return faltas > 0 && areSimilar(requestedWord, word, faltas) ? NEAR_SCORES.typos : 0
}

/**
 * Returns a function that rates how well a result matches the question as a whole, from 0.55 to 3. The best ratings are
 * for a title, or another name of a chapter or a part, that equals the question.
 */
function createFit(question: string) {
  const questionStems = wordsOf(question).map(stem)
  const equalsQuestion = (text: string) => wordsOf(text).map(stem).join() === questionStems.join()
  return ({ clase, titulo, claves }: SearchPart) => {
    if (equalsQuestion(titulo)) return 1.6
    if ((clase === 'Capítulo' || clase === 'Apartado') && claves.split(',').some(equalsQuestion)) return 3
    const titleStems = wordsOf(titulo).map(stem)
    return 0.55 + (0.45 * titleStems.filter((term) => questionStems.includes(term)).length) / titleStems.length
  }
}

/**
 * Builds the index of words over all parts of the documentation.
 * @returns the search function
 */
export function createSearch(parts: readonly SearchPart[]) {
  const indexedParts = parts.map((parte) => ({
    parte,
    campos: CAMPOS.map(([field, weight]) => ({ weight, words: new Set(wordsOf(parte[field] ?? '').map(stem)) })),
  }))
  const partCounts = new Map<string, number>()
  for (const { campos } of indexedParts) {
    for (const word of new Set(campos.flatMap(({ words }) => [...words]))) {
      partCounts.set(word, (partCounts.get(word) ?? 0) + 1)
    }
  }
  const rarityOf = (word: string) => Math.log(1 + parts.length / partCounts.get(word)!)

  /** Returns the value of each indexed word for a requested word: its similarity times its rarity. */
  function valuesOf(requestedWord: string): Map<string, number> {
    const foundWords = new Map<string, number>()
    for (const word of partCounts.keys()) {
      const similarity = similarityOf(requestedWord, word)
      if (similarity > 0) foundWords.set(word, similarity * rarityOf(word))
    }
    return foundWords
  }

  /**
   * Returns the results with the most requested words, best first. If any result has all the words, only results with
   * all of them are returned.
   */
  return (question: string, maxResults = 12): SearchPart[] => {
    const todas = [...new Set(wordsOf(question))]
    const significantWords = todas.filter((term) => !STOP_WORDS.has(term))
    const wordValues = (significantWords.length > 0 ? significantWords : todas).map(stem).map(valuesOf)
    const fitOf = createFit(question)
    const scoredParts = indexedParts
      .map(({ parte, campos }) => {
        const scores = wordValues.map((de) =>
          Math.max(
            0,
            ...campos.map(({ weight, words }) => weight * Math.max(0, ...[...words].map((term) => de.get(term) ?? 0))),
          ),
        )
        const matchedWords = scores.filter((score) => score > 0).length
        return {
          parte,
          matchedWords,
          score: scores.reduce((a, b) => a + b, 0) * fitOf(parte) * KIND_WEIGHTS[parte.clase],
        }
      })
      .filter(({ matchedWords }) => matchedWords > 0)
    const bestCount = Math.max(0, ...scoredParts.map(({ matchedWords }) => matchedWords))
    return scoredParts
      .filter(({ matchedWords }) => matchedWords === bestCount)
      .sort((a, b) => b.score - a.score)
      .slice(0, maxResults)
      .map(({ parte }) => parte)
  }
}

/**
 * Returns the piece of a text around the first requested word.
 * @param length length of the piece in characters, without the ellipses
 */
export function excerptOf(text: string, question: string, length = 150): string {
  const plainText = withoutAccents(text)
  const where = wordsOf(question)
    .filter((term) => !STOP_WORDS.has(term))
    .map((term) => plainText.indexOf(singularOf(term)))
    .find((i) => i >= 0)
  const from = Math.max(0, (where ?? 0) - 40)
  const start = from === 0 ? 0 : text.indexOf(' ', from) + 1
  const excerpt = text.slice(start, start + length)
  return `${start > 0 ? '…' : ''}${excerpt}${start + length < text.length ? '…' : ''}`
}
