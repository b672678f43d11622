import { reseal, seal, unseal } from '../../platform/sealing.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { CORREGIBLES, FilaGuia } from './campos.ts'

// Corrections of a guide. The event of a correction stores the old and the new values. Webhook bodies of earlier events
// are built with the old values, which the guide had at that time.

/** Column that a correction may change. */
export type Corregible = (typeof CORREGIBLES)[number]

/** Old and new values of a correction, by column. */
export type Cambios = { readonly [C in Corregible]?: { readonly antes: FilaGuia[C]; readonly despues: FilaGuia[C] } }

/** Key of a correction's event: the guide, and the event's sequence in it. */
export interface EventoDeCorreccion {
  guia_id: string
  secuencia: number
}

const filaDe = ({ guia_id, secuencia }: EventoDeCorreccion) => `${guia_id}:${secuencia}`

/** Encrypts the values of a correction for the row of its event. */
export const cifrarCambios = (secretos: Secrets, evento: EventoDeCorreccion, cambios: Cambios): Buffer<ArrayBuffer> =>
  seal(secretos, 'correcciones', filaDe(evento), Buffer.from(JSON.stringify(cambios)))

/**
 * Decrypts the values of a correction.
 * @throws Error if no configured master key encrypted them, or if they were altered
 */
export const descifrarCambios = (secretos: Secrets, evento: EventoDeCorreccion, cifrado: Uint8Array): Cambios =>
  JSON.parse(unseal(secretos, 'correcciones', filaDe(evento), cifrado).toString()) as Cambios

/** Encrypts the values again, with the present master key; undefined if no configured master key encrypted them. */
export const recifrarCambios = (secretos: Secrets, evento: EventoDeCorreccion, cifrado: Uint8Array) =>
  reseal(secretos, 'correcciones', filaDe(evento), cifrado)

/** Correction as {@link correccionesTras} reads it: sequence of its event, and its encrypted values in base64. */
export type CorreccionLeida = readonly [secuencia: number, cambios: string]

/**
 * SQL of the corrections after an event, oldest first, as `CorreccionLeida[]`; null if there are none. Guides without
 * later corrections cost no look-up.
 * @param g name of a row of `guia`
 * @param v name of a row of `evento`
 */
export const correccionesTras = (g: string, v: string) => `case when ${g}.ultima_correccion > ${v}.secuencia then
    (select json_agg(json_build_array(c.secuencia, encode(c.cambios, 'base64')) order by c.secuencia) from evento c
     where c.comercio_id = ${v}.comercio_id and c.modo = ${v}.modo and c.guia_id = ${v}.guia_id
       and c.secuencia > ${v}.secuencia and c.cambios is not null) end`

/**
 * Returns a guide with the values that it had before the given corrections: for each column, the old value of the first
 * correction that changed it.
 * @param correcciones oldest first
 * @throws Error if the values of a correction cannot be decrypted
 */
export function antesDe(
  secretos: Secrets,
  guia: FilaGuia,
  guia_id: string,
  correcciones: readonly CorreccionLeida[],
): FilaGuia {
  const anterior = { ...guia }
  for (const [secuencia, cifrado] of correcciones.toReversed()) {
    const cambios = descifrarCambios(secretos, { guia_id, secuencia }, Buffer.from(cifrado, 'base64'))
    for (const [columna, { antes }] of Object.entries(cambios)) Object.assign(anterior, { [columna]: antes })
  }
  return anterior
}
