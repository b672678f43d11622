import { type Db, inTransaction, statement } from '../../../data/db.ts'
import { queryByPart } from '../../../data/partQueries.ts'
import type { Webhook } from '../../../generated/contract/types/index.ts'
import type { Log } from '../../../platform/log.ts'
import type { JobDeps } from '../../deps.ts'
import type { WebhookKey } from '../../records/webhookKey.ts'
import type { ExchangeResult } from '../attempt.ts'
import type { WebhookAvisoRow } from '../delivery.ts'
import { newOwnEventId } from '../ownEvent.ts'
import {
  FAILURE_WINDOW,
  FAILURES_TO_BRAKE,
  MAX_BRAKE,
  MIN_BRAKE,
  MIN_FAILURES,
  nextAttempt,
  WARNING_POINTS,
} from '../schedule.ts'
import { presentWebhook, WEBHOOK_COLUMNS, type WebhookRow } from '../webhook.ts'

/** Result of an attempt that has ended. */
export interface AttemptResult {
  /** Id of the attempt; ids sort by start time. */
  id: string
  aviso: WebhookAvisoRow
  url: string
  /** Versions of the secrets that signed the request. */
  secretos: number[]
  iniciado_en: Date
  respuesta: ExchangeResult
}

/**
 * Settles attempts. `turno` is a fencing token: an attempt changes its delivery only if the delivery is pending and has
 * the same `turno`. Any other attempt is only stored, as late (`tardio`). A late success still marks the delivery as
 * delivered, because the receiver has it. It does not while a manual resend is pending. Settling an attempt twice has
 * no effect, for example after the response to a commit was lost. Returns the ids of attempts that were not stored
 * before.
 */
const SETTLE_ATTEMPTS = statement<{ intentos: string; now: Date }, Pick<AttemptResult, 'id'>>(
  'avisos.settleAttempts',
  'part',
  `with x as materialized (
     select * from json_to_recordset(:intentos::json) as x(
       n int, comercio_id uuid, modo text, webhook text, guia_id uuid, secuencia int, turno int, intentos int, causa text,
       id uuid, iniciado_en timestamptz, url text, ip text, secretos int[], status int, error text, detalle text,
       dns_ms real, conexion_ms real, tls_ms real, primer_byte_ms real, total_ms real, cabeceras jsonb, cuerpo text,
       cuerpo_truncado boolean, outcome text, proximo_en timestamptz)
   ), u as (
     update webhook_aviso e set estado = x.outcome, turno = e.turno + 1, intento = e.intento + 1, intentos = e.intentos + 1,
       proximo_en = coalesce(x.proximo_en, e.proximo_en), terminado_en = case when x.outcome <> 'pendiente' then :now::timestamptz end,
       ultimo_status = x.status, ultimo_error = x.error
     from x where e.comercio_id = x.comercio_id and e.modo = x.modo and e.webhook = x.webhook
       and e.guia_id = x.guia_id and e.secuencia = x.secuencia and (
         (e.estado = 'pendiente' and (e.turno = x.turno or (x.outcome = 'entregado' and e.causa <> 'manual')))
         or (e.estado = 'fallido' and e.ultimo_error = 'webhook_deshabilitado' and x.outcome = 'entregado'))
     returning x.n, e.intentos
   ), i as (
     insert into webhook_intento as n (comercio_id, modo, webhook, guia_id, secuencia, id, numero, tardio, causa, iniciado_en, url,
       ip, secretos, status, error, detalle, dns_ms, conexion_ms, tls_ms, primer_byte_ms, total_ms, cabeceras, cuerpo,
       cuerpo_truncado)
     select comercio_id, modo, webhook, guia_id, secuencia, id, coalesce(u.intentos, x.intentos + 1), u.n is null, causa, iniciado_en, url, ip,
       secretos, status, error, detalle, dns_ms, conexion_ms, tls_ms, primer_byte_ms, total_ms, cabeceras, cuerpo,
       cuerpo_truncado
     from x left join u on u.n = x.n
     on conflict (comercio_id, modo, webhook, guia_id, secuencia, id) do nothing
     returning n.id
   )
   select id from i`,
)

type ChangedWebhook = WebhookRow & { estado_antes: WebhookRow['estado']; aviso_antes: WebhookRow['aviso'] }

/**
 * Updates the health of endpoints that still have the address of the attempts. A success clears all failures. From the
 * third failure in a row on, the endpoint pauses before the next probe, for half the time that it has been failing. The
 * endpoint is disabled after a 410 response, or when its failures last for {@link FAILURE_WINDOW}. Rows are locked
 * in one order, because groups would otherwise deadlock. Rows of healthy endpoints are not locked.
 */
const UPDATE_HEALTH = statement<{ health: string; now: Date }, ChangedWebhook>(
  'webhooks.updateHealth',
  'part',
  `with x as (
     select * from json_to_recordset(:health::json) as x(
       comercio_id uuid, modo text, webhook text, url text, succeeded boolean, tested boolean, new_failures int, first timestamptz,
       gone boolean)
   ), v as materialized (
     select w.comercio_id, w.modo, w.webhook, w.estado, w.aviso, x.gone, x.tested,
       case when x.succeeded then 0 else w.fallas + x.new_failures end as fallas,
       case when not x.succeeded then coalesce(w.primera_falla_en, x.first) end as first
     from x join webhook w on w.comercio_id = x.comercio_id and w.modo = x.modo and w.webhook = x.webhook
       and w.url = x.url
     where x.new_failures > 0 or w.fallas > 0 or w.freno_vence_en is not null or (w.comprobado_en is null and x.tested)
     order by w.comercio_id, w.modo, w.webhook for no key update of w
   ), s as (
     select *, extract(epoch from :now::timestamptz - first) * 1000 as ms from v
   ), d as (
     select *, case when gone then 'respondio_410'
       when fallas >= ${MIN_FAILURES} and ms >= ${FAILURE_WINDOW} then 'fallas_continuas' end as baja,
       :now::timestamptz + interval '1 ms' * greatest(${MIN_BRAKE}, least(${MAX_BRAKE}, ms / 2)) as freno from s
   )
   update webhook w set comprobado_en = case when d.tested then coalesce(w.comprobado_en, :now::timestamptz) else w.comprobado_en end,
     fallas = d.fallas, primera_falla_en = d.first,
     aviso = case when d.first is null then 0 ${WARNING_POINTS.toReversed()
       .map((part) => `when d.ms >= ${(FAILURE_WINDOW * part) / 100} then ${part}`)
       .join(' ')} else 0 end,
     freno_vence_en = case when d.fallas >= ${FAILURES_TO_BRAKE} then d.freno end,
     estado = case when d.baja is null then w.estado else 'deshabilitado' end,
     motivo = case when d.baja is null or w.estado = 'deshabilitado' then w.motivo else d.baja end,
     estado_en = case when d.baja is null or w.estado = 'deshabilitado' then w.estado_en else :now::timestamptz end
   from d where w.comercio_id = d.comercio_id and w.modo = d.modo and w.webhook = d.webhook
   returning ${WEBHOOK_COLUMNS}, d.estado as estado_antes, d.aviso as aviso_antes`,
)

/** Creates deliveries that tell the merchant's other endpoints of a disabled endpoint. */
const NOTIFY_DISABLED = statement<WebhookKey & { evento: string; now: Date; datos: { webhook: Webhook } }>(
  'webhooks.notifyDisabled',
  'merchant',
  `insert into webhook_aviso (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en, datos, creado_en)
   select w.comercio_id, w.modo, w.webhook, md5(:evento)::uuid, 0, :evento, 'webhook.deshabilitado', 'pendiente', 'automatica',
     :now::timestamptz, :datos::jsonb, :now from webhook w
   where w.comercio_id = :comercio_id and w.modo = :modo and w.webhook <> :webhook and w.estado in ('activo', 'pausado')
     and w.tipos && array['*', 'webhook.*', 'webhook.deshabilitado']`,
)

export interface SettlementDeps {
  /**
   * Database sessions whose commits do not wait for the disk. If PostgreSQL crashes, deliveries settled in its last
   * moments are pending again and are sent again. Delivery is at least once, as promised.
   */
  noWaitDb: JobDeps['noWaitDb']
  log: Log
  clock: () => Date
  /** Returns a random number from 0 to 1, which varies the wait before the next attempt. */
  random: () => number
  onNotice: (kind: 'deshabilitado' | 'aviso', motivo: string) => void
}

/**
 * Settles a group of attempts, in one transaction for each database that holds rows of the group's merchants (Citus has
 * several). The transaction stores the attempts, their effects on their deliveries, and the health of their endpoints.
 */
export async function settleAttempts(deps: SettlementDeps, results: readonly AttemptResult[]): Promise<void> {
  await queryByPart(
    deps.noWaitDb,
    results,
    ({ aviso }) => aviso.comercio_id,
    (db, group) => settle(deps, db, group),
  )
}

async function settle(deps: SettlementDeps, db: Db, results: readonly AttemptResult[]): Promise<ChangedWebhook[]> {
  const now = deps.clock()
  const rows = results.map((result, n) => toAttemptRow(result, n, now, deps.random()))
  const changed = await inTransaction(db, async (query) => {
    const settled = await query(SETTLE_ATTEMPTS, { intentos: JSON.stringify(rows), now })
    const newIds = new Set(settled.map(({ id }) => id))
    const health = healthOf(results.filter(({ id }) => newIds.has(id)))
    const touched = health.length > 0 ? await query(UPDATE_HEALTH, { health: JSON.stringify(health), now }) : []
    for (const row of touched.filter(wasDisabled)) {
      // An address may contain a secret of its receiver, so the other endpoints get only its origin.
      const webhook = presentWebhook(row)
      const datos = { webhook: { ...webhook, url: `${new URL(webhook.url).origin}/` } }
      await query(NOTIFY_DISABLED, { ...row, evento: newOwnEventId(), datos, now })
    }
    return touched
  })
  for (const row of changed) reportChange(deps, row)
  return changed
}

const wasDisabled = ({ estado, estado_antes }: ChangedWebhook) =>
  estado === 'deshabilitado' && estado_antes !== 'deshabilitado'

/** Tells the operator of a change in an endpoint's health, in the log and in the metrics. */
function reportChange({ log, onNotice }: SettlementDeps, row: ChangedWebhook) {
  const { webhook, fallas, primera_falla_en, aviso, motivo } = row
  if (wasDisabled(row)) {
    onNotice('deshabilitado', motivo ?? '')
    log.warn({ webhook, motivo, fallas, primera_falla_en }, 'webhook disabled')
  } else if (aviso > row.aviso_antes) {
    onNotice('aviso', String(aviso))
    log.warn({ webhook, ventana: aviso, fallas, primera_falla_en }, 'webhook keeps failing')
  }
}

function toAttemptRow(
  { id, aviso, url, secretos, iniciado_en, respuesta }: AttemptResult,
  n: number,
  now: Date,
  random: number,
) {
  const { status, error } = respuesta
  const nextAttemptAt =
    error === null || status === 410 || aviso.causa === 'prueba'
      ? undefined
      : nextAttempt(aviso.intento + 1, now, respuesta.retry_after, random)
  const { comercio_id, modo, webhook, guia_id, secuencia, turno, intentos, causa } = aviso
  const { retry_after: _, ...storedAnswer } = respuesta
  return {
    n,
    comercio_id,
    modo,
    webhook,
    guia_id,
    secuencia,
    turno,
    intentos,
    causa,
    id,
    iniciado_en,
    url,
    secretos,
    ...storedAnswer,
    outcome: error === null ? 'entregado' : nextAttemptAt ? 'pendiente' : 'fallido',
    proximo_en: nextAttemptAt ?? null,
  }
}

/**
 * Returns the health of each endpoint in a group of attempts. An endpoint that accepted a delivery is healthy, unless
 * it also returned 410. If that delivery was a test, the endpoint's address is verified. A test that fails says nothing
 * about health.
 */
function healthOf(results: readonly AttemptResult[]) {
  const groups = Map.groupBy(results, ({ aviso, url }) => `${aviso.webhook} ${url}`)
  return [...groups.values()].flatMap((group) => {
    const failures = group.filter(({ aviso, respuesta }) => respuesta.error !== null && aviso.causa !== 'prueba')
    const gone = failures.some(({ respuesta }) => respuesta.status === 410)
    const succeeded = !gone && group.some(({ respuesta }) => respuesta.error === null)
    if (failures.length === 0 && !succeeded) return []
    const tested = group.some(({ aviso, respuesta }) => aviso.tipo === 'webhook.prueba' && respuesta.error === null)
    const { url, aviso } = group[0]!
    const { comercio_id, modo, webhook } = aviso
    const first = failures[0]?.iniciado_en ?? null
    return [
      {
        comercio_id,
        modo,
        webhook,
        url,
        succeeded,
        tested,
        new_failures: succeeded ? 0 : failures.length,
        first,
        gone,
      },
    ]
  })
}
