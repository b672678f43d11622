import { hexadecimalDe } from './bytes.js'
import type { GuiaParaCrear } from './generado/types.gen.js'

/**
 * Tells whether a guide has a reference. With a reference, creating the same guide again returns the existing guide.
 */
export const tieneReferencia = (guia: GuiaParaCrear): boolean =>
  typeof guia?.external_ref === 'string' && guia.external_ref !== ''

/**
 * Adds a random reference to a guide without a reference. A digest of the content would not work, because two orders of
 * one customer are often identical. The service would take the second for a repetition of the first.
 */
export const conReferencia = <G extends GuiaParaCrear>(guia: G): G =>
  tieneReferencia(guia) || Object(guia) !== guia || Array.isArray(guia)
    ? guia
    : { ...guia, external_ref: nuevaReferencia() }

/**
 * Returns a reference, or a key, of 128 random bits. Does not use `randomUUID`, which is missing in pages loaded without HTTPS.
 */
export const nuevaReferencia = () => `auto-${hexadecimalDe(crypto.getRandomValues(new Uint8Array(16)))}`
