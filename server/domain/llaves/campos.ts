import { type ColumnWith, columnsWith } from '../../data/columns.ts'
import type { llave } from '../../generado/contrato/prisma/client.ts'

/** Properties of one column of `llave`, on which lists of columns depend. */
interface CampoDeLlave {
  /** True if the creation of a key sets the column. Other columns start with their default. */
  readonly nuevo?: true
  /** True if a rotated key passes the column's value on to the new key. */
  readonly heredado?: true
  /** True if the audit record of a creation contains the column's value. */
  readonly decible?: true
  /** True if answers contain the column. */
  readonly mostrado?: true
}

/** Columns of `llave`. The audit record names columns in this order. */
export const CAMPOS_DE_LLAVE = {
  id: { nuevo: true, mostrado: true },
  tipo: { nuevo: true, heredado: true, mostrado: true },
  comercio_id: { nuevo: true, heredado: true },
  operador_id: { nuevo: true, heredado: true },
  hash: { nuevo: true },
  alcances: { nuevo: true, heredado: true, decible: true, mostrado: true },
  vence_en: { nuevo: true, heredado: true, decible: true, mostrado: true },
  redes: { nuevo: true, heredado: true, decible: true, mostrado: true },
  creado_en: { nuevo: true, mostrado: true },
  revocado_en: { mostrado: true },
  usado_en: { mostrado: true },
  demostracion: {},
} as const satisfies Readonly<Record<keyof llave, CampoDeLlave>>

type Campos = typeof CAMPOS_DE_LLAVE

/** Column that the creation of a key sets. */
export type NuevoDeLlave = ColumnWith<Campos, { nuevo: true }>
/** Columns that the creation of a key sets. */
export const NUEVOS_DE_LLAVE = columnsWith(CAMPOS_DE_LLAVE, { nuevo: true })
/** Column that a rotated key passes on to the new key. */
export type HeredadoDeLlave = ColumnWith<Campos, { heredado: true }>
/** Columns that a rotated key passes on to the new key. */
export const HEREDADOS_DE_LLAVE = columnsWith(CAMPOS_DE_LLAVE, { heredado: true })
/** Columns whose values the audit record of a creation contains. */
export const DECIBLES_DE_LLAVE = columnsWith(CAMPOS_DE_LLAVE, { decible: true })
/** Column that answers contain. */
export type MostradoDeLlave = ColumnWith<Campos, { mostrado: true }>
