import { type ColumnWith, columnsWith } from '../../data/columns.ts'
import type { webhook } from '../../generado/contrato/prisma/client.ts'

/** Properties of one column of `webhook`, on which lists of columns depend. */
interface CampoDeWebhook {
  /** True if the merchant sets the column. The audit record then names the column when its value changes. */
  readonly decidido?: true
  /** True if the audit record contains the column's old and new values, not only its name. */
  readonly decible?: true
  /** True if API responses contain the column. */
  readonly mostrado?: true
}

/** Columns of `webhook`. The audit record names changed columns in this order. */
export const CAMPOS_DE_WEBHOOK = {
  comercio_id: {},
  modo: { mostrado: true },
  webhook: { mostrado: true },
  // The path of an address may contain a secret. The audit record contains the host instead.
  url: { mostrado: true, decidido: true },
  tipos: { mostrado: true, decidido: true, decible: true },
  estado: { mostrado: true, decidido: true, decible: true },
  descripcion: { mostrado: true, decidido: true },
  motivo: { mostrado: true },
  estado_en: { mostrado: true },
  comprobado_en: { mostrado: true },
  fallas: { mostrado: true },
  primera_falla_en: { mostrado: true },
  aviso: { mostrado: true },
  freno_vence_en: {},
  creado_en: { mostrado: true },
  actualizado_en: { mostrado: true },
} as const satisfies Readonly<Record<keyof webhook, CampoDeWebhook>>

type Campos = typeof CAMPOS_DE_WEBHOOK

/** Column that the merchant sets. */
export type DecididoDeWebhook = ColumnWith<Campos, { decidido: true }>
/** Columns that the merchant sets. */
export const DECIDIDOS_DE_WEBHOOK = columnsWith(CAMPOS_DE_WEBHOOK, { decidido: true })
/** Columns whose values the audit record contains. */
export const DECIBLES_DE_WEBHOOK = columnsWith(CAMPOS_DE_WEBHOOK, { decible: true })
/** Column that answers contain. */
export type MostradoDeWebhook = ColumnWith<Campos, { mostrado: true }>
