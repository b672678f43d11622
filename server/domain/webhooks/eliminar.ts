import { inTransaction, statement } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import type { WebhookKey } from '../records/webhookKey.ts'
import { throwUnknownWebhook } from './webhook.ts'

/**
 * Marks an endpoint as deleted. Its row stays, without the address, until a job has deleted its deliveries, which may
 * be millions.
 */
const DELETE_WEBHOOK = statement<WebhookKey & { now: Date }>(
  'webhooks.deleteWebhook',
  'merchant',
  `update webhook set estado = 'eliminado', url = null, estado_en = :now, actualizado_en = :now
   where comercio_id = :comercio_id and modo = :modo and webhook = :webhook and estado <> 'eliminado' returning webhook`,
)

/**
 * Deletes the secrets of an endpoint, after its row is locked. A rotation in progress has then ended, and the secret
 * that it wrote is visible.
 */
const DELETE_SECRETOS = statement<WebhookKey>(
  'webhooks.deleteSecretos',
  'merchant',
  'delete from webhook_secreto where comercio_id = :comercio_id and modo = :modo and webhook = :webhook',
)

export const eliminarWebhook: Handler<'eliminarWebhook'> = async (
  { path, identity, requestId, red },
  { db, clock, bitacora },
) => {
  const { comercioId, modo } = identity
  const webhookKey = { comercio_id: comercioId, modo, webhook: path.webhook }
  await inTransaction(db, async (query) => {
    if ((await query(DELETE_WEBHOOK, { ...webhookKey, now: clock() })).length === 0) throwUnknownWebhook()
    await query(DELETE_SECRETOS, webhookKey)
    const line = { accion: 'eliminarWebhook', sobre: ['webhook', path.webhook] as const }
    await bitacora.record(query, { identity, requestId, red }, line)
  })
  return { status: 204, body: undefined }
}
