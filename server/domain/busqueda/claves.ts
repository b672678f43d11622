import { remembering } from '../../platform/remember.ts'
import { MAX_RECORDADOS, palabrasDe, partesDe } from './palabras.ts'

/**
 * Version of the keys that {@link clavesDe} returns. If it differs from the version of the stored keys, the job writes
 * the keys of all guides again.
 */
export const VERSION = 1

/** Advisory lock on the search keys of one part of the data. The current schema names the part. */
export const CERROJO = "hashtext('busqueda'), hashtext(current_schema())"

/** Maximum length of the key of a reference, in characters. */
const MAX_REFERENCIA = 64
const DIA = 86_400_000

/** Returns the day on which a guide was created, as days since 1970-01-01, for its search key. */
export const diaDe = (creado_en: Date): number => Math.floor(creado_en.getTime() / DIA)

/** Search key for a word of the recipient's name or of the municipality, reduced to its sound. */
export const dePalabra = (sonido: string) => `n:${sonido}`
/** Search key for a reference, or for the last part of one. */
export const deReferencia = (signos: string) => `r:${signos.slice(0, MAX_REFERENCIA)}`
/** Search key for a day of creation ({@link diaDe}). */
export const deDia = (dia: number) => `d:${dia}`

/**
 * Columns of a guide from which its search keys are made. The telephone is not among them, because it has an index of
 * its own.
 */
export interface Buscable {
  destinatario: string | null
  municipio: string
  external_ref: string | null
  /** Day of the creation ({@link diaDe}). */
  dia: number
}

const deTexto = (texto: string) => palabrasDe(texto).map(dePalabra)
const deMunicipio = remembering(MAX_RECORDADOS, deTexto)

/** Returns the search keys of a guide, each once, as lexemes of a `tsvector`. */
export function clavesDe({ destinatario, municipio, external_ref, dia }: Buscable): string[] {
  const claves = new Set(destinatario ? deTexto(destinatario) : [])
  for (const clave of deMunicipio(municipio)) claves.add(clave)
  const partes = partesDe(external_ref ?? '')
  if (partes.length > 0) claves.add(deReferencia(partes.join(''))).add(deReferencia(partes.at(-1)!))
  return [...claves.add(deDia(dia))]
}

/**
 * Writes keys as the text of a `tsvector`. They need no quotes, because keys contain only letters, digits and the
 * colon.
 */
export const enTsvector = (claves: readonly string[]) => `'${claves.join("' '")}'`
