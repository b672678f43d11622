import type { Metadatos } from '../../generado/contrato/tipos/index.ts'

// Texts that a merchant attaches to a guide. They are stored once, with the guide, and only the erasure of personal
// data removes them. A webhook body therefore has the same metadata at every attempt.

const porClave = ([una]: readonly [string, string], [otra]: readonly [string, string]) => (una < otra ? -1 : 1)

/** Returns metadata with keys and texts in NFC; null without any. */
export function normalizarMetadatos(metadatos: Metadatos | undefined): Metadatos | null {
  const pares = Object.entries(metadatos ?? {})
  return pares.length === 0
    ? null
    : Object.fromEntries(pares.map(([clave, texto]) => [clave.normalize('NFC'), texto.normalize('NFC')]))
}

/**
 * Returns stored metadata in the contract's form, in the order of the keys. jsonb has its own order, and a rebuilt body
 * must be identical.
 */
export const presentarMetadatos = (metadatos: Metadatos | null): Metadatos =>
  metadatos === null ? {} : Object.fromEntries(Object.entries(metadatos).sort(porClave))

/** Reports whether two guides have the same metadata. */
export const sonLosMismos = (unos: Metadatos | null, otros: Metadatos | null): boolean =>
  JSON.stringify(presentarMetadatos(unos)) === JSON.stringify(presentarMetadatos(otros))
