import type { OperationId } from '../../api/contract/contract.ts'
import { type Pagination, paginate } from '../../api/lists/page.ts'
import { statement } from '../../data/db.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { presentWebhook, WEBHOOK_COLUMNS, type WebhookRow, type WebhookScope } from './webhook.ts'

const LIST_WEBHOOKS = statement<
  Pick<WebhookRow, 'comercio_id' | 'modo' | 'creado_en' | 'webhook'> & { limite: number; now: Date },
  WebhookRow
>(
  'webhooks.listWebhooks',
  'merchant',
  `select ${WEBHOOK_COLUMNS} from webhook w
   where w.comercio_id = :comercio_id and w.modo = :modo and w.estado <> 'eliminado'
     and (w.creado_en, w.webhook) > (:creado_en, :webhook)
   order by w.creado_en, w.webhook limit :limite`,
)

export const listarWebhooks: Handler<'listarWebhooks'> = async ({ query, identity }, deps) => ({
  status: 200,
  body: await readWebhookPage(deps, 'listarWebhooks', identity, query),
})

/** Returns a page of a merchant's endpoints, for the merchant or for operators. */
export const readWebhookPage = (
  { db, cursors, clock }: Pick<Deps, 'db' | 'cursors' | 'clock'>,
  operacion: OperationId,
  { comercioId, modo }: WebhookScope,
  query: Pagination | undefined,
) =>
  paginate(cursors, { operacion, dueno: `${comercioId}:${modo}` }, query ?? {}, {
    read: (after, limite) =>
      db.query(LIST_WEBHOOKS, {
        comercio_id: comercioId,
        modo,
        creado_en: new Date(after?.[0] ?? 0),
        webhook: String(after?.[1] ?? ''),
        limite,
        now: clock(),
      }),
    positionOf: ({ creado_en, webhook }) => [creado_en.getTime(), webhook],
    present: presentWebhook,
  })
