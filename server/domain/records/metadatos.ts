import type { Metadatos } from '../../generated/contract/types/index.ts'

// Texts that a merchant attaches to a guide. They are stored once, with the guide, and only the erasure of personal
// data removes them. A webhook body therefore has the same metadata at every attempt.

const compareKeys = ([leftKey]: readonly [string, string], [rightKey]: readonly [string, string]) =>
  leftKey < rightKey ? -1 : 1

/** Returns metadata with keys and texts in NFC; null without any. */
export function normalizeMetadata(metadatos: Metadatos | undefined): Metadatos | null {
  const entries = Object.entries(metadatos ?? {})
  return entries.length === 0
    ? null
    : Object.fromEntries(entries.map(([key, text]) => [key.normalize('NFC'), text.normalize('NFC')]))
}

/**
 * Returns stored metadata in the contract's form, in the order of the keys. jsonb has its own order, and a rebuilt body
 * must be identical.
 */
export const presentMetadata = (metadatos: Metadatos | null): Metadatos =>
  metadatos === null ? {} : Object.fromEntries(Object.entries(metadatos).sort(compareKeys))

/** Reports whether two guides have the same metadata. */
export const isSameMetadata = (left: Metadatos | null, right: Metadatos | null): boolean =>
  JSON.stringify(presentMetadata(left)) === JSON.stringify(presentMetadata(right))
