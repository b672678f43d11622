import { remembering } from '../../platform/remember.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import { MAX_REMEMBERED, textPartsOf, wordSoundsOf } from './words.ts'

/**
 * Version of the keys that {@link searchKeysOf} returns. If it differs from the version of the stored keys, the job writes
 * the keys of all guides again.
 */
export const KEY_VERSION = 2

/** Advisory lock on the search keys of one part of the data. The current schema names the part. */
export const LOCK_KEY = "hashtext('busqueda'), hashtext(current_schema())"

/** Maximum length of the key of a reference, in characters. */
const MAX_REFERENCE = 64

/** Returns the day on which a guide was created, as days since 1970-01-01, for its search key. */
export const creationDayOf = (creado_en: Date): number => Math.floor(creado_en.getTime() / DAY_MS)

/** Search key for a word of the recipient's name or of the municipality, reduced to its sound. */
export const wordKey = (sound: string) => `n:${sound}`
/** Search key for a reference, or for the last part of one. */
export const referenceKey = (characters: string) => `r:${characters.slice(0, MAX_REFERENCE)}`
/** Search key for a day of creation ({@link creationDayOf}). */
export const dayValue = (day: number) => `d:${day}`

/**
 * Columns of a guide from which its search keys are made. The telephone is not among them, because it has an index of
 * its own.
 */
export interface Searchable {
  destinatario: string | null
  municipio: string
  external_ref: string | null
  /** Day of the creation ({@link creationDayOf}). */
  dia: number
}

const textKeys = (text: string) => wordSoundsOf(text).map(wordKey)
const municipioKeys = remembering(MAX_REMEMBERED, textKeys)

/** Returns the search keys of a guide, each once, as lexemes of a `tsvector`. */
export function searchKeysOf({ destinatario, municipio, external_ref, dia }: Searchable): string[] {
  const keys = new Set(destinatario ? textKeys(destinatario) : [])
  for (const key of municipioKeys(municipio)) keys.add(key)
  const parts = textPartsOf(external_ref ?? '')
  if (parts.length > 0) keys.add(referenceKey(parts.join(''))).add(referenceKey(parts.at(-1)!))
  return [...keys.add(dayValue(dia))]
}

/**
 * Writes keys as the text of a `tsvector`. They need no quotes, because keys contain only letters, digits and the
 * colon.
 */
export const toTsvector = (keys: readonly string[]) => `'${keys.join("' '")}'`
