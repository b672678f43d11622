import { type Db, type RowOf, statement } from '../../data/db.ts'
import type { recuperacion } from '../../generated/contract/prisma/client.ts'
import type { EstadoDeRecuperacion, Modo, Recuperacion } from '../../generated/contract/types/index.ts'
import { MINUTE_MS } from '../../platform/time/units.ts'
import { type EventoRow, subscribesTo } from '../eventos/evento.ts'
import type { WebhookKey } from '../records/webhookKey.ts'
import type { WebhookRow, WebhookScope } from './webhook.ts'

export type RecoveryRow = RowOf<recuperacion, { modo: Modo; posicion: RecoveryPosition; estado: EstadoDeRecuperacion }>

/**
 * Position of a recovery in the order of the event feed. The recovery reads the transactions up to `tope`. Before it
 * ends, all transactions before `fin` must be visible.
 */
export interface RecoveryPosition {
  xid: string
  guia_id: string
  secuencia: number
  tope: string
  fin: string
}

/** Returns a row of `recuperacion` in the contract's form. */
export const presentRecovery = (row: RecoveryRow): Recuperacion => ({
  recuperacion: row.recuperacion,
  webhook: row.webhook,
  estado: row.estado,
  desde: row.desde.toISOString(),
  hasta: row.hasta.toISOString(),
  todas: row.todas,
  eventos: row.eventos,
  avisos: row.avisos,
  creado_en: row.creado_en.toISOString(),
  terminado_en: row.terminado_en?.toISOString() ?? null,
})

const FIND_RECOVERY = statement<WebhookKey & Pick<RecoveryRow, 'recuperacion'>, RecoveryRow>(
  'recuperacion.findRecovery',
  'merchant',
  `select r.* from recuperacion r
   join webhook w on w.comercio_id = r.comercio_id and w.modo = r.modo and w.webhook = r.webhook
   where r.comercio_id = :comercio_id and r.modo = :modo and r.webhook = :webhook and r.recuperacion = :recuperacion
     and w.estado <> 'eliminado'`,
)

/** Returns the recovery with this identifier; undefined if it, or its endpoint, does not exist. */
export async function readRecovery(
  { query }: Pick<Db, 'query'>,
  { comercioId, modo }: WebhookScope,
  webhook: string,
  recuperacion: string,
) {
  const [row] = await query(FIND_RECOVERY, { comercio_id: comercioId, modo, webhook, recuperacion })
  return row
}

/**
 * Maximum difference between the clocks of two processes, in milliseconds. Because of it, events are not written
 * strictly in the order of their times.
 */
export const CLOCK_SKEW = 10 * MINUTE_MS

type ComercioKey = Pick<EventoRow, 'comercio_id' | 'modo'>

const FEED_BOUNDS = statement<ComercioKey, { first_xid: string; ultimo: string; fin: string }>(
  'recuperacion.feedBounds',
  'merchant',
  `select coalesce(min(xid::text::numeric), 0)::text as first_xid, coalesce(max(xid::text::numeric), 0)::text as ultimo,
     flujo_fin()::text as fin
   from (
     (select xid from evento where comercio_id = :comercio_id and modo = :modo order by xid limit 1) union all
     (select xid from evento where comercio_id = :comercio_id and modo = :modo order by xid desc limit 1)) e`,
)

const FIRST_FROM_XID = statement<ComercioKey & { xid: string }, { lugar: string } & Pick<EventoRow, 'registrado_en'>>(
  'recuperacion.firstFromXid',
  'merchant',
  `select xid::text as lugar, registrado_en from evento
   where comercio_id = :comercio_id and modo = :modo and xid >= :xid::text::xid8
   order by xid, guia_id, secuencia limit 1`,
)

/**
 * Finds the range of the feed that may contain events from `from` to `until`. A binary search is possible because the
 * feed is nearly in the order of time.
 */
export async function findRange(db: Db, scope: WebhookScope, from: Date, until: Date): Promise<RecoveryPosition> {
  const comercioKey = { comercio_id: scope.comercioId, modo: scope.modo }
  const [bounds] = await db.query(FEED_BOUNDS, comercioKey)
  const firstXid = BigInt(bounds!.first_xid)
  /** First transaction whose events are not before `cutoff`; the number after the last transaction if none exists. */
  const find = async (cutoff: Date) => {
    let low = firstXid
    let high = BigInt(bounds!.ultimo) + 1n
    while (low < high) {
      const middle = (low + high) / 2n
      const [evento] = await db.query(FIRST_FROM_XID, { ...comercioKey, xid: String(middle) })
      if (evento && evento.registrado_en < cutoff) low = BigInt(evento.lugar) + 1n
      else high = middle
    }
    return low
  }
  const start = await find(new Date(from.getTime() - CLOCK_SKEW))
  const final = await find(new Date(until.getTime() + CLOCK_SKEW))
  // A recovery up to the present includes events that commit during this search.
  const isOpen = final > BigInt(bounds!.ultimo)
  return {
    xid: String(start),
    guia_id: '00000000-0000-0000-0000-000000000000',
    secuencia: 0,
    tope: isOpen ? bounds!.fin : String(final),
    fin: bounds!.fin,
  }
}

/** Parameters of {@link eventosToRecoverSql} and {@link isToSendSql}. */
export type RecoveryParameters = WebhookKey &
  Pick<WebhookRow, 'tipos'> &
  Pick<RecoveryRow, 'desde' | 'hasta' | 'todas'> &
  Omit<RecoveryPosition, 'fin'>

/**
 * SQL of the next events after the position of a recovery, in the order of the feed. `own` is true if an event is in
 * the time span of the recovery and the endpoint subscribes to the event's type.
 * @param condition additional SQL condition on the event `v`
 */
export const eventosToRecoverSql = (limit: number, condition = 'true') => `
  select v.comercio_id, v.modo, v.guia_id, v.secuencia, v.guia, v.tipo, v.registrado_en, v.xid,
    v.registrado_en >= w.desde_ and v.registrado_en < w.hasta_ and ${subscribesTo('w', 'v')} as own
  from (select :webhook::text as webhook, :tipos::text[] as tipos, :desde::timestamptz as desde_,
    :hasta::timestamptz as hasta_) w
  join evento v on v.comercio_id = :comercio_id and v.modo = :modo and ${condition}
    and (v.xid, v.guia_id, v.secuencia) > (:xid::text::xid8, :guia_id::uuid, :secuencia::int)
    and v.xid <= :tope::text::xid8
  order by v.xid, v.guia_id, v.secuencia limit ${limit}`

/** SQL condition that the delivery `e` of an event must be created, or sent again. */
export const isToSendSql = (e: string) =>
  `(${e}.evento is null or ${e}.estado = 'fallido' or (:todas::boolean and ${e}.estado = 'entregado'))`
