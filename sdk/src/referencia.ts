import { enHexadecimal } from './bytes.js'
import type { GuiaParaCrear } from './generado/types.gen.js'

/** Has the guide a reference? With one, creating again what was created gives the same guide. */
export const tieneReferencia = (guia: GuiaParaCrear): boolean =>
  typeof guia?.external_ref === 'string' && guia.external_ref !== ''

/**
 * Gives a guide without a reference one at random. A digest of its content would not do: two orders of one customer are
 * often equal to the letter, and the second would silently be taken for a repetition of the first.
 */
export function conReferencia<G extends GuiaParaCrear>(guia: G): G {
  return tieneReferencia(guia) || typeof guia !== 'object' || guia === null
    ? guia
    : { ...guia, external_ref: nuevaReferencia() }
}

/** A reference of 128 random bits; `randomUUID` is missing in pages that did not come by https. */
export const nuevaReferencia = () => `auto-${enHexadecimal(crypto.getRandomValues(new Uint8Array(16)))}`
