import { type Db, inTransaction, statement } from '../../data/db.ts'
import type { WebhookConSecreto } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import type { Deps } from '../deps.ts'
import { doOnce, type Remember } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { sendTest } from './probar.ts'
import { encryptSecret, readWithSecreto, type SecretoRow } from './secret.ts'
import { newSecret, secretBytes } from './signature.ts'
import {
  explainRepeated,
  MAX_WEBHOOKS,
  needsVerification,
  newWebhookCode,
  policyOnRequest,
  presentWebhook,
  readWebhook,
  requireWebhookDestination,
  type WebhookRow,
  type WebhookScope,
  webhookChanges,
} from './webhook.ts'

/**
 * Takes the merchant's lock for creating endpoints. The count afterwards then includes endpoints of concurrent
 * requests.
 */
const CREATION_LOCK = statement<{ comercio_id: string }>(
  'webhooks.creationLock',
  'merchant',
  `select pg_advisory_xact_lock(hashtextextended('webhooks ' || :comercio_id::uuid::text, 0))`,
)

const CREATE_WEBHOOK = statement<
  Pick<WebhookRow, 'comercio_id' | 'modo' | 'webhook' | 'url' | 'tipos' | 'descripcion'> &
    Pick<SecretoRow, 'cifrado'> & { now: Date; comprobado_en: Date | null }
>(
  'webhooks.createWebhook',
  'merchant',
  `with w as (
     insert into webhook as n (comercio_id, modo, webhook, url, tipos, descripcion, estado, estado_en, comprobado_en,
       creado_en, actualizado_en)
     select :comercio_id, :modo, :webhook, :url, :tipos, :descripcion, 'activo', :now::timestamptz,
       :comprobado_en::timestamptz, :now, :now
     where (select count(*) from webhook where comercio_id = :comercio_id and modo = :modo and estado <> 'eliminado')
       < ${MAX_WEBHOOKS}
     returning n.comercio_id, n.modo, n.webhook
   ), s as (
     insert into webhook_secreto as n (comercio_id, modo, webhook, version, cifrado, creado_en)
     select comercio_id, modo, webhook, 1, :cifrado, :now from w returning n.webhook
   )
   select webhook from s`,
)

/** Returns the code of the merchant's endpoint that already has this address, for the error message. */
export async function findCodeByUrl(db: Db, { comercioId, modo }: WebhookScope, url: string): Promise<string> {
  const row = await db.prisma.webhook.findUnique({
    where: { comercio_id_modo_url: { comercio_id: comercioId, modo, url } },
    select: { webhook: true },
  })
  return row?.webhook ?? 'que acaba de crear'
}

export const crearWebhook: Handler<'crearWebhook'> = async (input, deps) => {
  const { result, headers } = await doOnce(deps, 'crearWebhook', input, {
    perform: (remember) => createWebhook(input, deps, remember),
    reread: (webhook) => readWithSecreto(deps, input.identity, webhook, 1),
  })
  const Location = `/api/v1/webhooks/${result.webhook}`
  return { status: 201, headers: { ...headers, Location }, body: result }
}

async function createWebhook(
  { body, identity, requestId, red, isForwarded }: Parameters<typeof crearWebhook>[0],
  { db, clock, secretos, destinations, notifyJobs, bitacora }: Deps,
  remember: Remember,
): Promise<WebhookConSecreto> {
  const { comercioId: comercio_id, modo } = identity
  const url = await requireWebhookDestination(body.url, policyOnRequest(destinations, modo, isForwarded()))
  const webhook = newWebhookCode()
  const secreto = newSecret()
  const now = clock()
  const cifrado = encryptSecret(secretos, { webhook, version: 1 }, secretBytes(secreto))
  const row = await explainRepeated(
    () =>
      inTransaction(db, async (query) => {
        await query(CREATION_LOCK, { comercio_id })
        const { tipos = ['*'], descripcion = null } = body
        const comprobado_en = needsVerification(modo) ? null : now
        const datos = { comercio_id, modo, webhook, url, tipos, descripcion, cifrado, now, comprobado_en }
        const created = await query(CREATE_WEBHOOK, datos)
        const nuevo = created.length > 0 ? await readWebhook(query, identity, webhook, now) : undefined
        if (!nuevo) return undefined
        if (needsVerification(modo)) await sendTest(query, nuevo, now)
        const sobre = ['webhook', webhook] as const
        const line = { accion: 'crearWebhook', sobre, ...webhookChanges(undefined, nuevo) }
        await bitacora.record(query, { identity, requestId, red }, line)
        await remember(query, webhook)
        return nuevo
      }),
    () => findCodeByUrl(db, identity, url),
  )
  if (!row) {
    throw new Problema(
      'limite_de_webhooks',
      `Ya tiene ${MAX_WEBHOOKS} webhooks en este modo. Elimine uno, o sume tipos a uno que ya tiene.`,
    )
  }
  if (needsVerification(modo)) notifyJobs()
  return { ...presentWebhook(row), secreto }
}
