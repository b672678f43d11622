import { statement } from '../../data/db.ts'
import { queryAllParts } from '../../data/partQueries.ts'
import type { Modo, WebhookConFallas } from '../../generated/contract/types/index.ts'
import type { Handler } from '../operation.ts'
import type { WebhookAvisoRow } from './delivery.ts'
import type { WebhookRow } from './webhook.ts'

/** Maximum endpoints listed. */
const MAX_FAILING = 200
/** Maximum pending deliveries counted for each endpoint. */
const MAX_PENDING = 1_000
/** Maximum failed deliveries read, newest first, for the last fault of an endpoint. */
const MAX_FAILED = 100

type FailingRow = Pick<
  WebhookRow,
  'webhook' | 'url' | 'modo' | 'estado' | 'motivo' | 'estado_en' | 'fallas' | 'primera_falla_en'
> & {
  comercio: string
  nombre: string
  pendientes: number
  error: WebhookAvisoRow['ultimo_error']
  status: number | null
}

/**
 * Reads endpoints that fail or were disabled, those that fail longest first. The last fault is taken from a pending
 * delivery, or else from a failed one. A delivery that was never tried has no fault.
 */
const FAILING_WEBHOOKS = statement<{ modo: Modo; deshabilitado: boolean | null }, FailingRow>(
  'webhooks.failingWebhooks',
  'part',
  `select c.comercio, c.nombre, w.webhook, w.url, w.modo, w.estado, w.motivo, w.estado_en, w.fallas, w.primera_falla_en,
     p.pendientes, coalesce(p.error, f.error) as error, case when p.error is null then f.status else p.status end as status
   from (
     select * from webhook where modo = :modo and estado <> 'eliminado'
       and (primera_falla_en is not null or estado = 'deshabilitado')
       and (:deshabilitado::boolean is null or (estado = 'deshabilitado') = :deshabilitado)
     order by primera_falla_en limit ${MAX_FAILING + 1}) w
   join comercio c on c.id = w.comercio_id
   cross join lateral (
     select count(*)::int as pendientes, (array_agg(ultimo_error) filter (where ultimo_error is not null))[1] as error,
       (array_agg(ultimo_status) filter (where ultimo_error is not null))[1] as status
     from (
       select ultimo_error, ultimo_status from webhook_aviso
       where comercio_id = w.comercio_id and modo = w.modo and webhook = w.webhook and estado = 'pendiente'
       limit ${MAX_PENDING}) s) p
   left join lateral (
     select ultimo_error as error, ultimo_status as status from (
       select ultimo_error, ultimo_status from webhook_aviso
       where comercio_id = w.comercio_id and modo = w.modo and webhook = w.webhook and estado = 'fallido'
       order by creado_en desc, guia_id desc, secuencia desc limit ${MAX_FAILED}) s
     where ultimo_error <> 'webhook_deshabilitado' limit 1) f on true`,
  { plan: 'indexed' },
)

export const listarWebhooksConFallas: Handler<'listarWebhooksConFallas'> = async (
  { query, ...caller },
  { db, bitacora },
) => {
  const { modo = 'live', estado } = query ?? {}
  const deshabilitado = estado === undefined ? null : estado === 'deshabilitado'
  const rows = await queryAllParts(db, ({ query }) => query(FAILING_WEBHOOKS, { modo, deshabilitado }))
  const datos = rows.map(present).toSorted((left, other) => Date.parse(left.desde) - Date.parse(other.desde))
  await bitacora.recordRead(caller, { accion: 'listarWebhooksConFallas', despues: { webhooks: datos.length } })
  return { status: 200, body: { datos: datos.slice(0, MAX_FAILING), hay_mas: datos.length > MAX_FAILING } }
}

const present = (row: FailingRow): WebhookConFallas => ({
  comercio: row.comercio,
  nombre_comercio: row.nombre,
  webhook: row.webhook,
  // The path of an address may contain a secret.
  host: new URL(row.url!).host,
  modo: row.modo,
  estado: row.estado === 'deshabilitado' ? 'deshabilitado' : 'fallando',
  motivo: row.motivo,
  desde: (row.primera_falla_en ?? row.estado_en).toISOString(),
  intentos: row.fallas,
  ultima_falla: row.error && { error: row.error, estado_http: row.status },
  pendientes: row.pendientes,
})
