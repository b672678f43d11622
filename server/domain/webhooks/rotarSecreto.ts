import { inTransaction, statement } from '../../data/db.ts'
import { HOUR_MS } from '../../platform/time/units.ts'
import { doOnce } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import type { WebhookKey } from '../records/webhookKey.ts'
import { encryptSecret, readWithSecreto, type SecretoRow } from './secret.ts'
import { newSecret, secretBytes } from './signature.ts'
import { presentWebhook, requireWebhook, throwUnknownWebhook } from './webhook.ts'

const DEFAULT_OVERLAP_HOURS = 24

/**
 * Locks the endpoint for a rotation. Rotations run one after another, and each ends the secret of the rotation before
 * it, and no other.
 */
const ROTATION_LOCK = statement<WebhookKey>(
  'webhooks.rotationLock',
  'merchant',
  `select from webhook where comercio_id = :comercio_id and modo = :modo and webhook = :webhook
     and estado <> 'eliminado' for update`,
)

const LATEST = statement<WebhookKey, { version: number | null }>(
  'webhooks.ultima',
  'merchant',
  `select max(version) as version from webhook_secreto
   where comercio_id = :comercio_id and modo = :modo and webhook = :webhook`,
)

/**
 * Inserts the new secret and ends the old ones. During the overlap only the previous secret stays valid. Otherwise
 * signatures would accumulate.
 */
const ROTATE = statement<WebhookKey & Pick<SecretoRow, 'version' | 'cifrado'> & { now: Date; fin: Date }>(
  'webhooks.rotate',
  'merchant',
  `with v as (
     update webhook_secreto
     set vence_en = case when version = :version - 1 then least(coalesce(vence_en, :fin), :fin) else :now end
     where comercio_id = :comercio_id and modo = :modo and webhook = :webhook and (vence_en is null or vence_en > :now)
   ), w as (
     update webhook set actualizado_en = :now
     where comercio_id = :comercio_id and modo = :modo and webhook = :webhook
   )
   insert into webhook_secreto (comercio_id, modo, webhook, version, cifrado, creado_en)
   values (:comercio_id, :modo, :webhook, :version, :cifrado, :now::timestamptz)`,
)

export const rotarSecreto: Handler<'rotarSecreto'> = async (input, deps) => {
  const { path, body, identity, requestId, red } = input
  const { db, clock, secretos, bitacora } = deps
  const { result, headers } = await doOnce(deps, 'rotarSecreto', input, {
    async perform(remember) {
      const now = clock()
      const fin = new Date(now.getTime() + (body?.solapamiento_horas ?? DEFAULT_OVERLAP_HOURS) * HOUR_MS)
      const secreto = newSecret()
      const webhookKey = { comercio_id: identity.comercioId, modo: identity.modo, webhook: path.webhook }
      await inTransaction(db, async (query) => {
        if ((await query(ROTATION_LOCK, webhookKey)).length === 0) throwUnknownWebhook()
        const [last] = await query(LATEST, webhookKey)
        const version = (last?.version ?? 0) + 1
        const cifrado = encryptSecret(secretos, { webhook: path.webhook, version }, secretBytes(secreto))
        await query(ROTATE, { ...webhookKey, version, cifrado, now, fin })
        await bitacora.record(
          query,
          { identity, requestId, red },
          {
            accion: 'rotarSecreto',
            sobre: ['webhook', path.webhook],
            despues: { version, anterior_vence_en: fin },
          },
        )
        await remember(query, String(version))
      })
      return { ...presentWebhook(await requireWebhook(db, identity, path.webhook, now)), secreto }
    },
    reread: (version) => readWithSecreto(deps, identity, path.webhook, Number(version)),
  })
  return { status: 200, headers, body: result }
}
