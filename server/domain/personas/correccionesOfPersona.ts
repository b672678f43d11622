import { type Query, statement } from '../../data/db.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { EventoRow } from '../eventos/evento.ts'
import { type CorrectionChanges, decryptChanges, encryptChanges } from '../records/correccionCipher.ts'
import type { GuiaRow } from '../records/guiaFields.ts'

// Corrections of a guide, as the export and the erasure of a person read and replace them.

export type GuiaKey = Pick<EventoRow, 'comercio_id' | 'modo' | 'guia_id'>

/** Correction of a guide with its decrypted values. */
export type DatedCorreccion = { secuencia: number; registrado_en: Date; cambios: CorrectionChanges }

const CORRECCIONES = statement<GuiaKey, Pick<EventoRow, 'secuencia' | 'cambios' | 'registrado_en'>>(
  'personas.correcciones',
  'merchant',
  `select secuencia, cambios, registrado_en from evento
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and cambios is not null order by secuencia`,
)

/** Decrypted corrections of a guide. A correction that no master key decrypts has no values. */
export async function readCorrecciones(query: Query, secrets: Secrets, key: GuiaKey): Promise<DatedCorreccion[]> {
  const rows = await query(CORRECCIONES, key)
  return rows.map(({ secuencia, cambios, registrado_en }) => ({
    secuencia,
    registrado_en,
    cambios: toReadable(secrets, { guia_id: key.guia_id, secuencia }, cambios!),
  }))
}

/** Decrypted values of a correction; none if no master key decrypts them. */
export function toReadable(
  secrets: Secrets,
  evento: { guia_id: string; secuencia: number },
  encrypted: Uint8Array,
): CorrectionChanges {
  try {
    return decryptChanges(secrets, evento, encrypted)
  } catch {
    return {}
  }
}

const LOCK = statement<GuiaKey, GuiaRow>(
  'personas.lock',
  'merchant',
  `select * from guia where comercio_id = :comercio_id and modo = :modo and id = :guia_id for update`,
)

export const lockGuia = async (query: Query, key: GuiaKey): Promise<GuiaRow> => (await query(LOCK, key))[0]!

const SAVE_CHANGES = statement<GuiaKey & { secuencia: number; cambios: Buffer }>(
  'personas.saveChanges',
  'merchant',
  `update evento set cambios = :cambios
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and secuencia = :secuencia`,
)

/** Replaces the values of a correction. */
export const saveChanges = (
  query: Query,
  secrets: Secrets,
  key: GuiaKey & { secuencia: number },
  changes: CorrectionChanges,
): Promise<unknown> => query(SAVE_CHANGES, { ...key, cambios: encryptChanges(secrets, key, changes) })
