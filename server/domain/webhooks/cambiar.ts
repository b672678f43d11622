import { inTransaction, statement } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import type { WebhookKey } from '../records/webhookKey.ts'
import { findCodeByUrl } from './crear.ts'
import type { DecidedWebhookColumn } from './fields.ts'
import { sendTest } from './probar.ts'
import {
  explainRepeated,
  needsVerification,
  policyOnRequest,
  presentWebhook,
  requireWebhook,
  requireWebhookDestination,
  type WebhookRow,
  webhookChanges,
} from './webhook.ts'

/** Columns of an endpoint that a merchant may change; null leaves a column unchanged, but for `descripcion`. */
type WebhookChange = { [Column in DecidedWebhookColumn]: WebhookRow[Column] | null } & { has_descripcion: boolean }

/**
 * Changes an endpoint. If the endpoint is activated or gets another address, its earlier failures are cleared, because
 * they no longer describe it.
 */
const CHANGE_WEBHOOK = statement<WebhookKey & WebhookChange & { now: Date; needs_verification: boolean }>(
  'webhooks.changeWebhook',
  'merchant',
  `update webhook set url = coalesce(:url, url), tipos = coalesce(:tipos, tipos),
     descripcion = case when :has_descripcion::boolean then :descripcion else descripcion end,
     estado = coalesce(:estado, estado), estado_en = case when :estado <> estado then :now::timestamptz else estado_en end,
     comprobado_en = case when :url = url or not :needs_verification::boolean or :url is null then comprobado_en end,
     motivo = case when :estado is null then motivo end,
     fallas = case when :estado = 'activo' or :url <> url then 0 else fallas end,
     aviso = case when :estado = 'activo' or :url <> url then 0 else aviso end,
     primera_falla_en = case when :estado = 'activo' or :url <> url then null else primera_falla_en end,
     freno_vence_en = case when :estado = 'activo' or :url <> url then null else freno_vence_en end,
     actualizado_en = :now
   where comercio_id = :comercio_id and modo = :modo and webhook = :webhook and estado <> 'eliminado'`,
)

export const cambiarWebhook: Handler<'cambiarWebhook'> = async (
  { path, body, identity, requestId, red, isForwarded },
  { db, clock, destinations, notifyJobs, bitacora },
) => {
  const { comercioId, modo } = identity
  const now = clock()
  // An unknown endpoint returns 404, even if the body has faults.
  const before = await requireWebhook(db, identity, path.webhook, now)
  const policy = policyOnRequest(destinations, modo, isForwarded())
  const url = body.url === undefined ? null : await requireWebhookDestination(body.url, policy)
  const change = {
    comercio_id: comercioId,
    modo,
    webhook: path.webhook,
    url,
    tipos: body.tipos ?? null,
    descripcion: body.descripcion ?? null,
    has_descripcion: body.descripcion !== undefined,
    estado: body.estado ?? null,
    needs_verification: needsVerification(modo),
    now,
  }
  const row = await explainRepeated(
    () =>
      inTransaction(db, async (query) => {
        await query(CHANGE_WEBHOOK, change)
        const after = await requireWebhook({ query }, identity, path.webhook, now)
        // A new address counts as verified only after it answers a test, so a test is sent.
        if (before.comprobado_en && !after.comprobado_en) await sendTest(query, after, now)
        const line = { accion: 'cambiarWebhook', sobre: ['webhook', path.webhook] as const }
        const caller = { identity, requestId, red }
        await bitacora.record(query, caller, { ...line, ...webhookChanges(before, after) })
        return after
      }),
    () => findCodeByUrl(db, identity, url ?? ''),
  )
  notifyJobs()
  return { status: 200, body: presentWebhook(row) }
}
