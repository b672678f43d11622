import { type ColumnWith, columnsWith } from '../../data/columns.ts'
import type { webhook } from '../../generated/contract/prisma/client.ts'

/** Properties of one column of `webhook`, on which lists of columns depend. */
interface WebhookField {
  /** True if the merchant sets the column. The audit record then names the column when its value changes. */
  readonly decided?: true
  /** True if the audit record contains the column's old and new values, not only its name. */
  readonly loggable?: true
  /** True if API responses contain the column. */
  readonly shown?: true
}

/** Columns of `webhook`. The audit record names changed columns in this order. */
export const WEBHOOK_FIELDS = {
  comercio_id: {},
  modo: { shown: true },
  webhook: { shown: true },
  // The path of an address may contain a secret. The audit record contains the host instead.
  url: { shown: true, decided: true },
  tipos: { shown: true, decided: true, loggable: true },
  estado: { shown: true, decided: true, loggable: true },
  descripcion: { shown: true, decided: true },
  motivo: { shown: true },
  estado_en: { shown: true },
  comprobado_en: { shown: true },
  fallas: { shown: true },
  primera_falla_en: { shown: true },
  aviso: { shown: true },
  freno_vence_en: {},
  creado_en: { shown: true },
  actualizado_en: { shown: true },
} as const satisfies Readonly<Record<keyof webhook, WebhookField>>

type Fields = typeof WEBHOOK_FIELDS

/** Column that the merchant sets. */
export type DecidedWebhookColumn = ColumnWith<Fields, { decided: true }>
/** Columns that the merchant sets. */
export const DECIDED_WEBHOOK_COLUMNS = columnsWith(WEBHOOK_FIELDS, { decided: true })
/** Columns whose values the audit record contains. */
export const LOGGABLE_WEBHOOK_COLUMNS = columnsWith(WEBHOOK_FIELDS, { loggable: true })
/** Column that answers contain. */
export type ShownWebhookColumn = ColumnWith<Fields, { shown: true }>
