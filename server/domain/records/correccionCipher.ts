import { reseal, seal, unseal } from '../../platform/sealing.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { CORRECTABLE_COLUMNS, GuiaRow } from './guiaFields.ts'

// Corrections of a guide. The event of a correction stores the old and the new values. Webhook bodies of earlier events
// are built with the old values, which the guide had at that time.

/** Column that a correction may change. */
export type CorrectableColumn = (typeof CORRECTABLE_COLUMNS)[number]

/** Old and new values of a correction, by column. */
export type CorrectionChanges = {
  readonly [C in CorrectableColumn]?: { readonly antes: GuiaRow[C]; readonly despues: GuiaRow[C] }
}

/** Key of a correction's event: the guide, and the event's sequence in it. */
export interface CorreccionEvento {
  guia_id: string
  secuencia: number
}

const rowOf = ({ guia_id, secuencia }: CorreccionEvento) => `${guia_id}:${secuencia}`

/** Encrypts the values of a correction for the row of its event. */
export const encryptChanges = (
  secrets: Secrets,
  evento: CorreccionEvento,
  changes: CorrectionChanges,
): Buffer<ArrayBuffer> => seal(secrets, 'correcciones', rowOf(evento), Buffer.from(JSON.stringify(changes)))

/**
 * Decrypts the values of a correction.
 * @throws Error if no configured master key encrypted them, or if they were altered
 */
export const decryptChanges = (secrets: Secrets, evento: CorreccionEvento, encrypted: Uint8Array): CorrectionChanges =>
  JSON.parse(unseal(secrets, 'correcciones', rowOf(evento), encrypted).toString()) as CorrectionChanges

/** Encrypts the values again, with the present master key; undefined if no configured master key encrypted them. */
export const reencryptChanges = (secrets: Secrets, evento: CorreccionEvento, encrypted: Uint8Array) =>
  reseal(secrets, 'correcciones', rowOf(evento), encrypted)

/** Correction as {@link correccionesAfter} reads it: sequence of its event, and its encrypted values in base64. */
export type ReadCorreccion = readonly [secuencia: number, cambios: string]

/**
 * SQL of the corrections after an event, oldest first, as `ReadCorreccion[]`; null if there are none. Guides without
 * later corrections cost no look-up.
 * @param g name of a row of `guia`
 * @param v name of a row of `evento`
 */
export const correccionesAfter = (g: string, v: string) => `case when ${g}.ultima_correccion > ${v}.secuencia then
    (select json_agg(json_build_array(c.secuencia, encode(c.cambios, 'base64')) order by c.secuencia) from evento c
     where c.comercio_id = ${v}.comercio_id and c.modo = ${v}.modo and c.guia_id = ${v}.guia_id
       and c.secuencia > ${v}.secuencia and c.cambios is not null) end`

/**
 * Returns a guide with the values that it had before the given corrections: for each column, the old value of the first
 * correction that changed it.
 * @param correcciones oldest first
 * @throws Error if the values of a correction cannot be decrypted
 */
export function valuesBefore(
  secrets: Secrets,
  guia: GuiaRow,
  guia_id: string,
  correcciones: readonly ReadCorreccion[],
): GuiaRow {
  const previous = { ...guia }
  for (const [secuencia, encrypted] of correcciones.toReversed()) {
    const changes = decryptChanges(secrets, { guia_id, secuencia }, Buffer.from(encrypted, 'base64'))
    for (const [column, { antes }] of Object.entries(changes)) Object.assign(previous, { [column]: antes })
  }
  return previous
}
