import type { GuiaParaCrear } from './generado/types.gen.js'

/** With a reference, creating again what was created gives the same guide. */
export const tieneReferencia = (guia: GuiaParaCrear): boolean =>
  typeof guia?.external_ref === 'string' && guia.external_ref !== ''

/**
 * At random and not a digest of the content: two orders of one customer are often equal to the letter, and the second
 * would silently be taken for a repetition of the first.
 */
export function conReferencia<G extends GuiaParaCrear>(guia: G): G {
  return tieneReferencia(guia) || typeof guia !== 'object' || guia === null
    ? guia
    : { ...guia, external_ref: nuevaReferencia() }
}

/** 128 bits; `randomUUID` is missing in pages that did not come by https. */
export const nuevaReferencia = () =>
  `auto-${Array.from(crypto.getRandomValues(new Uint8Array(16)), (uno) => uno.toString(16).padStart(2, '0')).join('')}`
