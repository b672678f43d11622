import type { OperationId } from '../../api/contract/contract.ts'
import type { CursorPosition } from '../../api/lists/cursor.ts'
import { type Pagination, paginate } from '../../api/lists/page.ts'
import { type Db, dynamicStatement } from '../../data/db.ts'
import type { EstadoDeAvisoDeWebhook, ListarAvisosDeWebhookData } from '../../generated/contract/types/index.ts'
import { iso, readInstant } from '../../platform/time/instant.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { readGuideFilter } from '../records/guiaLookup.ts'
import type { WebhookKey } from '../records/webhookKey.ts'
import { AVISO_COLUMNS, type AvisoInJson, presentWebhookAviso, type WebhookAvisoRow } from './delivery.ts'
import { requireWebhook, type WebhookScope } from './webhook.ts'

export const listarAvisosDeWebhook: Handler<'listarAvisosDeWebhook'> = async ({ path, query, identity }, deps) => ({
  status: 200,
  body: await readAvisoPage(deps, 'listarAvisosDeWebhook', identity, path.webhook, query),
})

/**
 * Returns a page of an endpoint's deliveries, for its merchant or for operators.
 * @throws Problema 404
 */
export function readAvisoPage(
  { db, cursors, clock }: Pick<Deps, 'db' | 'cursors' | 'clock'>,
  operacion: OperationId,
  { comercioId, modo }: WebhookScope,
  webhook: string,
  query: (AvisoFilters & Pagination) | undefined,
) {
  const { limite: _limit, cursor: _cursor, ...filters } = query ?? {}
  const scope = { operacion, dueno: `${comercioId}:${modo}:${webhook}`, filters }
  return paginate(cursors, scope, query ?? {}, {
    async read(after, count) {
      const rows = await read(db, { comercio_id: comercioId, modo, webhook }, filters, after, count)
      // An empty page may mean that the webhook does not exist, which must return 404.
      if (rows.length === 0) await requireWebhook(db, { comercioId, modo }, webhook, clock())
      return rows
    },
    positionOf: ({ creado_en, guia_id, secuencia }) => [Date.parse(iso(creado_en)), guia_id, secuencia],
    present: presentWebhookAviso,
  })
}

type AvisoListRow = AvisoInJson & Pick<WebhookAvisoRow, 'guia_id'>

type AvisoFilters = Omit<NonNullable<ListarAvisosDeWebhookData['query']>, 'limite' | 'cursor'>

/**
 * Maximum number of filters for which a list is a prepared statement. With more filters PostgreSQL plans the list for
 * each request, because all combinations would need 128 prepared statements.
 */
const MAX_PREPARED_FILTERS = 1

/** SQL condition of each state. The states are literals, so that the planner can use the partial indexes for them. */
const OF_STATE: Readonly<Record<EstadoDeAvisoDeWebhook, string>> = {
  pendiente: "e.estado = 'pendiente'",
  entregado: "e.estado = 'entregado'",
  fallido: "e.estado = 'fallido'",
}

function read(
  db: Db,
  { comercio_id, modo, webhook }: WebhookKey,
  { estado, tipo, guia, creado_desde, creado_hasta }: AvisoFilters,
  after: CursorPosition | undefined,
  limite: number,
): Promise<AvisoListRow[]> {
  const candidates: [filterValue: unknown, condition: string][] = [
    [estado, estado ? OF_STATE[estado] : ''],
    [tipo, 'e.tipo = :tipo'],
    [
      guia,
      'e.guia_id = (select id from guia_indice where guia = :guia and comercio_id = :comercio_id and modo = :modo)',
    ],
    [creado_desde, 'e.creado_en >= :desde'],
    [creado_hasta, 'e.creado_en < :hasta'],
    [after, '(e.creado_en, e.guia_id, e.secuencia) < (:creado_en, :guia_id::uuid, :secuencia::int)'],
  ]
  const conditions = candidates.flatMap(([filterValue, condition]) =>
    filterValue === undefined ? [] : [`and ${condition}`],
  )
  const values = {
    comercio_id,
    modo,
    webhook,
    tipo,
    guia: guia === undefined ? null : readGuideFilter(guia),
    limite,
    desde: creado_desde && readInstant(creado_desde),
    hasta: creado_hasta && readInstant(creado_hasta),
    creado_en: after && new Date(after[0]!),
    guia_id: after?.[1],
    secuencia: after?.[2],
  }
  const listStatement = dynamicStatement<typeof values, AvisoListRow>(
    'merchant',
    `select ${AVISO_COLUMNS}, e.guia_id from webhook_aviso e
     where e.comercio_id = :comercio_id and e.modo = :modo and e.webhook = :webhook ${conditions.join(' ')}
       and exists (select from webhook w where w.comercio_id = :comercio_id and w.modo = :modo and w.webhook = :webhook
         and w.estado <> 'eliminado')
     order by e.creado_en desc, e.guia_id desc, e.secuencia desc limit :limite`,
    [estado, tipo, guia, creado_desde, creado_hasta].filter((filterValue) => filterValue !== undefined).length <=
      MAX_PREPARED_FILTERS,
    { plan: 'generic' },
  )
  return db.query(listStatement, values)
}
