import type { OperationId } from '../../api/contract/contract.ts'
import { inTransaction, statement } from '../../data/db.ts'
import type { Actor } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { doOnce, type readKey } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import {
  AT_ONCE,
  type Key,
  presentWebhookAviso,
  readAvisoDeWebhook,
  requireWebhookAviso,
  type WebhookAvisoRow,
} from './delivery.ts'
import type { WebhookScope } from './webhook.ts'

/**
 * Gives a delivery a new turn, even while it is being sent. The delivery is sent once more, even if the present attempt
 * succeeds. A delivery that has ended begins anew, and a delivery that waits is sent now.
 */
const RESEND = statement<Key & Pick<WebhookAvisoRow, 'proximo_en'>, WebhookAvisoRow>(
  'avisos.resend',
  'merchant',
  `update webhook_aviso set proximo_en = :proximo_en, causa = 'manual',
     turno = turno + 1,
     intento = case when estado = 'pendiente' then intento else 0 end, estado = 'pendiente', terminado_en = null
   where comercio_id = :comercio_id and modo = :modo and webhook = :webhook and guia_id = :guia_id
     and secuencia = :secuencia and not (estado = 'pendiente' and causa = 'manual' and proximo_en = :proximo_en)
   returning *`,
)

export const reenviarAvisoDeWebhook: Handler<'reenviarAvisoDeWebhook'> = (input, deps) =>
  resendAviso(deps, 'reenviarAvisoDeWebhook', input, input.identity, input)

/**
 * Sends a delivery once more, for its merchant or for an operator, and answers with it.
 * @throws Problema 404; 409 if the key belongs to another request
 */
export async function resendAviso(
  deps: Pick<Deps, 'db' | 'clock' | 'secretos' | 'notifyJobs' | 'bitacora'>,
  operation: OperationId,
  { identity, requestId, red }: Actor,
  { comercioId, modo }: WebhookScope,
  {
    path,
    headers: requestHeaders,
  }: {
    path: { webhook: string; aviso: string }
    headers: Parameters<typeof readKey>[0]
  },
) {
  const { db, notifyJobs, bitacora } = deps
  const scope = { comercioId, modo }
  const { result, headers } = await doOnce(
    deps,
    operation,
    { identity: scope, headers: requestHeaders, path },
    {
      async perform(remember) {
        const aviso = await requireWebhookAviso(db, scope, path.webhook, path.aviso)
        const row = await inTransaction(db.forComercio(comercioId), async (query) => {
          const [resent] = await query(RESEND, { ...aviso, proximo_en: AT_ONCE })
          const sobre = ['aviso', path.aviso] as const
          const line = { accion: operation, sobre, de: { comercio_id: comercioId, modo } }
          if (resent) await bitacora.record(query, { identity, requestId, red }, line)
          await remember(query, path.aviso)
          return resent
        })
        notifyJobs()
        // No row was changed if an earlier request asked for the same resend and it was not sent yet. The response then
        // shows that resend.
        return row ?? aviso
      },
      reread: (aviso) => readAvisoDeWebhook(db, scope, path.webhook, aviso),
    },
  )
  return { status: 202, headers, body: presentWebhookAviso(result) } as const
}
