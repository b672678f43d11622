import { type Db, type Query, statement } from '../../data/db.ts'
import { dbOfKey } from '../../data/owners.ts'
import { queryAllParts } from '../../data/partQueries.ts'
import { NUMBERING_PLANS } from '../../generated/contract/plans.ts'
import type { GuiaHallada, Modo } from '../../generated/contract/types/index.ts'
import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'
import { creationDayOf, dayValue, LOCK_KEY, referenceKey, wordKey } from './keys.ts'
import { digitsOf, isStopWord, similarWords, soundOf, textPartsOf, toAlphanumeric, withoutArticles } from './words.ts'

/** Key of a guide that the search found. */
export interface GuiaMatch {
  comercio_id: string
  modo: Modo
  id: string
}

type Match = GuiaHallada['coincidencia']

/** Kinds of match, closest first: whole words, beginnings of words, words with one typing error. */
const CLOSENESS_LEVELS = ['exacta', 'comienzo', 'parecida'] as const
type Closeness = (typeof CLOSENESS_LEVELS)[number]

/** Present time, and maximum number of guides to return. */
interface SearchBounds {
  now: Date
  limite: number
}

/**
 * Returns a `like` pattern for names that contain the words of a text in this order, in lower case and without accents.
 * Words have only letters and digits, so the text cannot add wildcards.
 */
export const namePattern = (text: string): string => `%${textPartsOf(text).join('%')}%`

/**
 * Age in days of the guides that each pass of a search reads; undefined: any age. The search stops as soon as a pass
 * has found enough guides. If a short period has few matches, a longer one is cheap to read, too.
 */
const PERIOD_DAYS = [1, 32, undefined] as const
/** Maximum guides that one pass reads in each part of the data. */
const MAX_CANDIDATES = 10_000

/** Maximum words of the search text that are looked for. */
const MAX_SEARCHED_WORDS = 6
/**
 * Number of search words that nearly identify a person. If a guide has at least this many words exactly, typing errors
 * are not looked for.
 */
const ENOUGH_WORDS = 3
/**
 * `MIN_PREFIX`: minimum characters of a word that is searched as the beginning of a longer one. `MIN_SIMILAR`:
 * minimum characters of a word in which a typing error is looked for.
 */
const MIN_PREFIX = 3
const MIN_SIMILAR = 4

/** Returns the text of a `tsquery` that matches any of these keys. Keys in `prefixes` match as prefixes. */
const anyKeyQuery = (keys: readonly string[], prefixes: readonly string[] = []) =>
  [...keys.map((key) => `'${key}'`), ...prefixes.map((key) => `'${key}':*`)].join(' | ')

/** Returns the words of a search text. Leaves out words that people often omit from names, such as «de». */
const wordsOfText = (text: string) =>
  textPartsOf(text)
    .filter((part) => !isStopWord(part))
    .slice(0, MAX_SEARCHED_WORDS)

/** Returns the `tsquery` for a whole word, which may be part of a name, of a place or of a reference. */
const wholeWordQuery = (part: string) => anyKeyQuery([wordKey(soundOf(part)), referenceKey(part)])

/** Returns the `tsquery` for words that begin with a text; undefined if the text is too short. */
function prefixQuery(parte: string): string | undefined {
  const prefixes = [soundOf(parte), parte].map((part, i) => (i === 0 ? wordKey(part) : referenceKey(part)))
  return parte.length < MIN_PREFIX || soundOf(parte).length < 2 ? undefined : anyKeyQuery([], prefixes)
}

const EXISTING = statement<{ claves: readonly string[] }, { clave: string }>(
  'busqueda.existing',
  'part',
  `select x.clave from unnest(:claves::text[]) x(clave)
   where exists (select from busqueda where claves @@ quote_literal(x.clave)::tsquery)`,
  { plan: 'indexed' },
)

/**
 * Returns search conditions that also match words with one typing error. A word has hundreds of such spellings, and
 * comparing guides with all of them is slow. Spellings that no guide has are therefore left out.
 */
async function similarWordQueries(db: Db, words: readonly string[]): Promise<string[]> {
  const similarKeys = words.map((part) => {
    const sound = soundOf(part)
    const spellings = sound.length < MIN_SIMILAR ? [sound] : similarWords(sound)
    return [...spellings, ...withoutArticles(part).map(soundOf)].map(wordKey)
  })
  // The words themselves are skipped here. They may be frequent, and other conditions already find out whether a guide
  // has them.
  const claves = [...new Set(similarKeys.flatMap(([, ...others]) => others))]
  const existingKeys = new Set(
    (await queryAllParts(db, ({ query }) => query(EXISTING, { claves }))).map(({ clave }) => clave),
  )
  return similarKeys.map(([ownKey, ...others]) =>
    anyKeyQuery([ownKey!, ...others.filter((key) => existingKeys.has(key))]),
  )
}

/**
 * Returns lists of `tsquery`. A guide matches if it fulfils all queries of one list: one list treats the text as a
 * reference, the other as words.
 */
async function buildConditions(db: Db, text: string, closeness: Closeness): Promise<string[][]> {
  const words = wordsOfText(text)
  // A text of several parts with a digit may be a reference. A reference of a single part is found like a word.
  const referencia = textPartsOf(text).length > 1 && /\d/.test(text) ? referenceKey(toAlphanumeric(text)) : undefined
  if (closeness === 'exacta') return [...(referencia ? [[anyKeyQuery([referencia])]] : []), words.map(wholeWordQuery)]
  if (closeness === 'comienzo') {
    const last = prefixQuery(words.at(-1) ?? '')
    return [
      ...(referencia ? [[anyKeyQuery([], [referencia])]] : []),
      ...(last ? [[...words.slice(0, -1).map(wholeWordQuery), last]] : []),
    ]
  }
  const lastPart = referencia && lastPartQuery(text)
  return [...(words.length > 0 ? [await similarWordQueries(db, words)] : []), ...(lastPart ? [[lastPart]] : [])]
}

/**
 * Returns the `tsquery` for the last part of a reference, which people read out after another word («pedido 0118»).
 * Accepts the letter O for a zero. Undefined if the part has no digit, or is too short.
 */
function lastPartQuery(text: string): string | undefined {
  const last = textPartsOf(text).at(-1)!
  return last.length < MIN_PREFIX || !/\d/.test(last)
    ? undefined
    : anyKeyQuery([referenceKey(last), referenceKey(last.replaceAll('o', '0'))])
}

/**
 * Returns the SQL for a number of conditions. Each condition is checked by the index, which starts with the rarest key.
 */
const conditionsSql = (count: number) => `with c as materialized (
     select comercio_id, modo, id from busqueda
     where ${Array.from({ length: count }, (_item, i) => `claves @@ (:conditions::text[])[${i + 1}]::tsquery`).join(' and ')}
     limit ${MAX_CANDIDATES}
   ) select comercio_id, modo, id from c order by id desc limit :limite`

type SearchConditions = { conditions: readonly string[]; limite: number }
/**
 * Statements by number of conditions minus one. There are at most as many conditions as words, and one more for the
 * days.
 */
const BY_CONDITIONS = [
  statement<SearchConditions, GuiaMatch>('busqueda.withOne', 'part', conditionsSql(1), { plan: 'indexed' }),
  statement<SearchConditions, GuiaMatch>('busqueda.withTwo', 'part', conditionsSql(2), { plan: 'indexed' }),
  statement<SearchConditions, GuiaMatch>('busqueda.withThree', 'part', conditionsSql(3), { plan: 'indexed' }),
  statement<SearchConditions, GuiaMatch>('busqueda.withFour', 'part', conditionsSql(4), { plan: 'indexed' }),
  statement<SearchConditions, GuiaMatch>('busqueda.withFive', 'part', conditionsSql(5), { plan: 'indexed' }),
  statement<SearchConditions, GuiaMatch>('busqueda.withSix', 'part', conditionsSql(6), { plan: 'indexed' }),
  statement<SearchConditions, GuiaMatch>('busqueda.withSeven', 'part', conditionsSql(7), { plan: 'indexed' }),
]

/** Returns the newest guides that fulfil all conditions, from all parts of the data. */
async function readWith(db: Db, conditions: readonly string[], limite: number): Promise<GuiaMatch[]> {
  const searchStatement = BY_CONDITIONS[conditions.length - 1]!
  const matches = await queryAllParts(db, ({ query }) => query(searchStatement, { conditions, limite }))
  return newestFirst(matches, limite)
}

const newestFirst = (matches: readonly GuiaMatch[], limit: number) =>
  matches.toSorted((match, otherMatch) => (match.id < otherMatch.id ? 1 : -1)).slice(0, limit)

/** Returns the newest guides whose reference, recipient's name or municipality matches a text. */
async function findByKeys(
  db: Db,
  text: string,
  closeness: Closeness,
  { now, limite }: SearchBounds,
): Promise<GuiaMatch[]> {
  for (const conditions of await buildConditions(db, text, closeness)) {
    if (conditions.length === 0) continue
    let matches: GuiaMatch[] = []
    // A search for beginnings skips the shortest period, because each pass has to read all keys that begin with the
    // text again.
    for (const days of closeness === 'exacta' ? PERIOD_DAYS : PERIOD_DAYS.slice(1)) {
      matches = await readWith(db, days === undefined ? conditions : [...conditions, daysQuery(now, days)], limite)
      if (matches.length >= limite) break
    }
    // A text that matches as a reference is hardly a name, so its words are not searched.
    if (matches.length > 0) return matches
  }
  return []
}

/**
 * Returns the `tsquery` for guides created in the last days or tomorrow. Tomorrow is included because the clock that
 * dated a guide may be ahead.
 */
const daysQuery = (now: Date, days: number) =>
  anyKeyQuery(Array.from({ length: days + 1 }, (_item, i) => dayValue(creationDayOf(now) + 1 - i)))

/** Range of telephones that begin with the same digits: the beginning itself, and the highest number with it. */
interface TelefonoRange {
  desde: string
  hasta: string
}

const BY_TELEFONO = statement<
  { desde: readonly string[]; hasta: readonly string[]; max_read: number; limite: number },
  GuiaMatch
>(
  'busqueda.byTelefono',
  // PostgreSQL reads each range of telephones from the index, in the index's order.
  'part',
  `select g.comercio_id, g.modo, g.id from unnest(:desde::text[], :hasta::text[]) t(desde, hasta) cross join lateral (
     select comercio_id, modo, id from guia where telefono between t.desde and t.hasta
     order by telefono desc, id desc limit :max_read) g
   order by g.id desc limit :limite`,
  { plan: 'indexed' },
)

/**
 * `TELEFONO_FORM`: form of a text that may be a telephone. `MIN_DIGITS`: its minimum number of digits.
 * `MIN_FIRST_DIGITS`: minimum digits of the beginning of one.
 */
const TELEFONO_FORM = /^[+\d\s().-]+$/
/** Words before a telephone, as people copy it: «Tel. 3152 6458», «wa.me/50231526458». */
const TELEFONO_LABEL = /^\s*(?:tel\p{L}*|cel\p{L}*|m[oó]vil|whatsapp|(?:https?:\/\/)?wa\.me\/)[\s.:]*/iu
const MIN_DIGITS = 7
const MIN_FIRST_DIGITS = 5
/** Maximum digits of an international number. */
const MAX_DIGITS = 15
/** Maximum guides that are read for one beginning of a telephone. */
const MAX_WITH_BEGINNING = 1_000

/**
 * Returns the telephone numbers that a text may mean in each country of the catalogue. Leaves out doubtful readings.
 */
const telephoneReadings = (text: string): string[] =>
  [undefined, ...NUMBERING_PLANS.map(({ pais }) => pais)].flatMap((country) => {
    const reading = readTelephone(text, country)
    return 'error' in reading || reading.dudoso ? [] : [reading.e164]
  })

/** Returns the ranges of telephones that begin with these digits, in any country of the catalogue. */
function beginningsOf(digits: string, isInternational: boolean): TelefonoRange[] {
  const codes = isInternational ? [''] : ['', ...NUMBERING_PLANS.map(({ callingCode }) => callingCode)]
  return codes
    .map((code) => `+${code}${digits}`)
    .filter((desde) => desde.length <= MAX_DIGITS + 1)
    .map((desde) => ({ desde, hasta: desde.padEnd(MAX_DIGITS + 1, '9') }))
}

/** Returns the telephones that a text means with this closeness; none if the text is no telephone. */
function telephonesOf(typedText: string, closeness: Closeness): TelefonoRange[] {
  const text = typedText.replace(TELEFONO_LABEL, '')
  const digits = digitsOf(text)
  const isInternational = text.trimStart().startsWith('+')
  if (!TELEFONO_FORM.test(text)) return []
  if (closeness === 'comienzo') return digits.length < MIN_FIRST_DIGITS ? [] : beginningsOf(digits, isInternational)
  if (digits.length < MIN_DIGITS) return []
  const plusSign = isInternational ? '+' : ''
  const texts =
    closeness === 'parecida' ? similarWords(digits).map((similarDigits) => plusSign + similarDigits) : [text]
  return [...new Set(texts.flatMap(telephoneReadings))].map((telefono) => ({ desde: telefono, hasta: telefono }))
}

/** Returns the newest guides with a telephone, in any spelling; none if the text is no telephone. */
async function findByTelefono(
  db: Db,
  text: string,
  closeness: Closeness,
  { limite }: SearchBounds,
): Promise<GuiaMatch[]> {
  const ranges = telephonesOf(text, closeness)
  if (ranges.length === 0) return []
  const values = {
    desde: ranges.map(({ desde }) => desde),
    hasta: ranges.map(({ hasta }) => hasta),
    max_read: closeness === 'comienzo' ? MAX_WITH_BEGINNING : limite,
    limite,
  }
  return newestFirst(await queryAllParts(db, ({ query }) => query(BY_TELEFONO, values)), limite)
}

const BY_CODE = statement<{ guia: string }, GuiaMatch>(
  'busqueda.byCode',
  'part',
  'select comercio_id, modo, id from guia_indice where guia = :guia',
)

/** Returns the guide with a code, in any spelling; none if the text is no code. */
async function findByCode(db: Db, text: string): Promise<GuiaMatch[]> {
  const guia = normalizeGuideCode(text)
  const where = guia && (await dbOfKey(db, guia))
  return where ? where.query(BY_CODE, { guia: guia! }) : []
}

/**
 * Returns the guides that match a text: the closest matches first, and newer guides first among equally close ones.
 * Stops as soon as it has found enough.
 */
export async function searchGuias(
  db: Db,
  text: string,
  bounds: SearchBounds,
): Promise<(GuiaMatch & { coincidencia: Match })[]> {
  const matches = new Map<string, GuiaMatch & { coincidencia: Match }>()
  const addMatches = (newMatches: readonly GuiaMatch[], coincidencia: Match) => {
    for (const match of newMatches) if (!matches.has(match.id)) matches.set(match.id, { ...match, coincidencia })
  }
  addMatches(await findByCode(db, text), 'codigo')
  for (const closeness of CLOSENESS_LEVELS) {
    if (closeness === 'parecida' && matches.size > 0 && wordsOfText(text).length >= ENOUGH_WORDS) break
    for (const searchBy of [findByTelefono, findByKeys])
      if (matches.size < bounds.limite) addMatches(await searchBy(db, text, closeness, bounds), closeness)
  }
  return [...matches.values()].slice(0, bounds.limite)
}

/** Waits until no process writes search keys, and keeps others from writing them until this transaction ends. */
const WAIT = statement<object>('busqueda.wait', 'anywhere', `select pg_advisory_xact_lock_shared(${LOCK_KEY})`)
const ERASE = statement<{ guias: string }>(
  'busqueda.erase',
  'part',
  `delete from busqueda b using json_to_recordset(:guias::json) x(comercio_id uuid, modo text, id uuid)
   where b.comercio_id = x.comercio_id and b.modo = x.modo and b.id = x.id`,
)

/**
 * Deletes the search keys of guides whose personal data this transaction has erased. First waits for the job that
 * writes keys. Keys that the job wrote before are then visible and deleted; keys that it writes later contain no
 * personal data.
 */
export async function eraseSearchKeys(query: Query, guias: readonly GuiaMatch[]): Promise<void> {
  await query(WAIT)
  await query(ERASE, { guias: JSON.stringify(guias) })
}
