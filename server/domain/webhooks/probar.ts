import { inTransaction, type Query, statement } from '../../data/db.ts'
import type { Webhook } from '../../generated/contract/types/index.ts'
import { doOnce } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import type { WebhookKey } from '../records/webhookKey.ts'
import { AT_ONCE, avisoCodeOf, presentWebhookAviso, readAvisoDeWebhook, type WebhookAvisoRow } from './delivery.ts'
import { newOwnEventId } from './ownEvent.ts'
import { presentWebhook, requireWebhook, type WebhookRow } from './webhook.ts'

/**
 * Inserts an event of the endpoint itself. The event belongs to no guide, so `guia_id` is the MD5 of the event's id,
 * and the row stores the data of the body.
 */
const INSERT_OWN_EVENTO = statement<
  WebhookKey &
    Pick<WebhookAvisoRow, 'evento' | 'tipo' | 'causa' | 'proximo_en' | 'creado_en'> & {
      datos: { webhook: Webhook }
    },
  WebhookAvisoRow
>(
  'avisos.insertOwnEvento',
  'merchant',
  `insert into webhook_aviso (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en, datos, creado_en)
   values (:comercio_id, :modo, :webhook, md5(:evento)::uuid, 0, :evento, :tipo, 'pendiente', :causa, :proximo_en,
     :datos::jsonb, :creado_en) returning *`,
)

/** Finds a test of the endpoint that was not sent yet. A repeated request gets this test. */
const PENDING_TEST = statement<WebhookKey & Pick<WebhookAvisoRow, 'proximo_en'>, WebhookAvisoRow>(
  'avisos.pendingTest',
  'merchant',
  `select * from webhook_aviso where comercio_id = :comercio_id and modo = :modo and webhook = :webhook
     and estado = 'pendiente' and proximo_en = :proximo_en and causa = 'prueba' limit 1`,
)

/** Creates a test delivery, which is sent now and only once. Returns the previous test if that was not sent yet. */
export async function sendTest(query: Query, row: WebhookRow, now: Date): Promise<WebhookAvisoRow> {
  const { comercio_id, modo, webhook } = row
  const testKey = { comercio_id, modo, webhook, proximo_en: AT_ONCE }
  const [pending] = await query(PENDING_TEST, testKey)
  if (pending) return pending
  const [aviso] = await query(INSERT_OWN_EVENTO, {
    ...testKey,
    evento: newOwnEventId(),
    tipo: 'webhook.prueba',
    causa: 'prueba',
    datos: { webhook: presentWebhook(row) },
    creado_en: now,
  })
  return aviso!
}

export const probarWebhook: Handler<'probarWebhook'> = async (input, deps) => {
  const { path, identity, requestId, red } = input
  const { db, clock, notifyJobs, bitacora } = deps
  const { result, headers } = await doOnce(deps, 'probarWebhook', input, {
    async perform(remember) {
      const now = clock()
      const row = await requireWebhook(db, identity, path.webhook, now)
      const aviso = await inTransaction(db, async (query) => {
        const line = { accion: 'probarWebhook', sobre: ['webhook', path.webhook] as const }
        await bitacora.record(query, { identity, requestId, red }, line)
        const aviso = await sendTest(query, row, now)
        await remember(query, avisoCodeOf(aviso))
        return aviso
      })
      notifyJobs()
      return aviso
    },
    reread: (aviso) => readAvisoDeWebhook(db, identity, path.webhook, aviso),
  })
  return { status: 202, headers, body: presentWebhookAviso(result) }
}
