import { type ColumnWith, columnsWith } from '../../data/columns.ts'
import type { llave } from '../../generated/contract/prisma/client.ts'

/** Properties of one column of `llave`, on which lists of columns depend. */
interface LlaveField {
  /** True if the creation of a key sets the column. Other columns start with their default. */
  readonly nuevo?: true
  /** True if a rotated key passes the column's value on to the new key. */
  readonly inherited?: true
  /** True if the audit record of a creation contains the column's value. */
  readonly audited?: true
  /** True if answers contain the column. */
  readonly shown?: true
}

/** Columns of `llave`. The audit record names columns in this order. */
export const LLAVE_FIELDS = {
  id: { nuevo: true, shown: true },
  tipo: { nuevo: true, inherited: true, shown: true },
  comercio_id: { nuevo: true, inherited: true },
  operador_id: { nuevo: true, inherited: true },
  hash: { nuevo: true },
  alcances: { nuevo: true, inherited: true, audited: true, shown: true },
  vence_en: { nuevo: true, inherited: true, audited: true, shown: true },
  redes: { nuevo: true, inherited: true, audited: true, shown: true },
  creado_en: { nuevo: true, shown: true },
  revocado_en: { shown: true },
  usado_en: { shown: true },
  demostracion: {},
} as const satisfies Readonly<Record<keyof llave, LlaveField>>

type Fields = typeof LLAVE_FIELDS

/** Column that the creation of a key sets. */
export type NewLlaveField = ColumnWith<Fields, { nuevo: true }>
/** Columns that the creation of a key sets. */
export const NEW_LLAVE_FIELDS = columnsWith(LLAVE_FIELDS, { nuevo: true })
/** Column that a rotated key passes on to the new key. */
export type InheritedLlaveField = ColumnWith<Fields, { inherited: true }>
/** Columns that a rotated key passes on to the new key. */
export const INHERITED_LLAVE_FIELDS = columnsWith(LLAVE_FIELDS, { inherited: true })
/** Columns whose values the audit record of a creation contains. */
export const AUDITED_LLAVE_FIELDS = columnsWith(LLAVE_FIELDS, { audited: true })
/** Column that answers contain. */
export type ShownLlaveField = ColumnWith<Fields, { shown: true }>
