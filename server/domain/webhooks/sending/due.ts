import { type Db, statement } from '../../../data/db.ts'
import { queryAllParts, queryByComercio } from '../../../data/partQueries.ts'
import { MINUTE_MS } from '../../../platform/time/units.ts'
import type { Deps } from '../../deps.ts'
import type { WebhookKey } from '../../records/webhookKey.ts'
import {
  type AvisoContent,
  avisoContentOf,
  CONTENT_COLUMNS,
  type ContentRow,
  type WebhookAvisoRow,
} from '../delivery.ts'
import { FAILURES_TO_BRAKE, MAX_BRAKE } from '../schedule.ts'

/**
 * SQL of the time up to which deliveries of the endpoint `w` are due. The time is now if the endpoint may be sent to.
 * Otherwise only deliveries sent on request (`AT_ONCE`) are due. A pause that ends more than twice {@link MAX_BRAKE} from
 * now comes from a wrong clock and does not count.
 */
const UNTIL = `case
  when w.estado = 'activo' and w.comprobado_en is not null and (w.freno_vence_en is null or w.freno_vence_en <= :now
    or w.freno_vence_en > :now::timestamptz + interval '${2 * MAX_BRAKE} ms') then :now::timestamptz
  else timestamptz '1970-01-01Z' end`

/** SQL condition that the delivery `e` belongs to the endpoint of `a`. */
const SAME_WEBHOOK = (a: string) =>
  `e.comercio_id = ${a}.comercio_id and e.modo = ${a}.modo and e.webhook = ${a}.webhook`

const AVISO_COLUMNS = [
  'guia_id',
  'secuencia',
  'evento',
  'tipo',
  'causa',
  'turno',
  'intento',
  'intentos',
  'proximo_en',
  'datos',
] as const

/** Due delivery of the `n`th requested endpoint, with the data of its body. */
type DueRow = ContentRow & { n: number; x_creado_en: Date } & {
  [C in (typeof AVISO_COLUMNS)[number] as `x_${C}`]: WebhookAvisoRow[C]
}

/**
 * Due deliveries of some endpoints, oldest first, except those that are already in memory. An endpoint that fails gets
 * one delivery, as its probe.
 */
const READ = statement<{ requests: string; now: Date }, DueRow>(
  'avisos.read',
  'part',
  `select x.n, ${AVISO_COLUMNS.map((c) => `e.${c} as x_${c}`).join(', ')}, e.creado_en as x_creado_en,
     ${CONTENT_COLUMNS}
   from json_to_recordset(:requests::json) as x(n int, comercio_id uuid, modo text, webhook text, count int, salvo text[])
   join webhook w on w.comercio_id = x.comercio_id and w.modo = x.modo and w.webhook = x.webhook
     and w.estado <> 'eliminado'
   cross join lateral (
     select * from webhook_aviso e where ${SAME_WEBHOOK('x')} and e.estado = 'pendiente' and e.proximo_en <= ${UNTIL}
       and e.evento <> all (x.salvo)
     order by e.proximo_en, e.guia_id, e.secuencia
     limit case when w.fallas >= ${FAILURES_TO_BRAKE} then 1 else x.count end) e
   left join guia g on g.comercio_id = e.comercio_id and g.modo = e.modo and g.id = e.guia_id and e.secuencia > 0
   left join evento v on v.comercio_id = e.comercio_id and v.modo = e.modo and v.guia_id = e.guia_id
     and v.secuencia = e.secuencia
   order by x.n, e.proximo_en, e.guia_id, e.secuencia`,
)

/** Request for the due deliveries of one endpoint. */
export interface DueRequest extends WebhookKey {
  /** Maximum number of deliveries. */
  count: number
  /** Ids of the events that are already in memory: evt_… */
  salvo: readonly string[]
}

/** Reads the due deliveries of each endpoint, in the order of `requests`. */
export async function readDue(
  { db, ...deps }: Pick<Deps, 'db' | 'secretos' | 'log'>,
  requests: readonly DueRequest[],
  now: Date,
): Promise<AvisoContent[][]> {
  const contents: AvisoContent[][] = requests.map(() => [])
  const numbered = requests.map((request, n) => ({ n, ...request }))
  const rows = await queryByComercio(db, numbered, ({ query }, shardRequests) =>
    query(READ, { requests: JSON.stringify(shardRequests), now }),
  )
  for (const row of rows) {
    const content = toContent(deps, requests[row.n]!, row)
    if (content) contents[row.n]!.push(content)
  }
  return contents
}

function toContent(
  deps: Pick<Deps, 'secretos' | 'log'>,
  { comercio_id, modo, webhook }: WebhookKey,
  row: DueRow,
): AvisoContent | undefined {
  const aviso: WebhookAvisoRow = {
    comercio_id,
    modo,
    webhook,
    guia_id: row.x_guia_id,
    secuencia: row.x_secuencia,
    evento: row.x_evento,
    tipo: row.x_tipo,
    estado: 'pendiente',
    causa: row.x_causa,
    turno: row.x_turno,
    intento: row.x_intento,
    intentos: row.x_intentos,
    proximo_en: row.x_proximo_en,
    ultimo_status: null,
    ultimo_error: null,
    exito: null,
    datos: row.x_datos,
    creado_en: row.x_creado_en,
    terminado_en: null,
  }
  return avisoContentOf(deps, aviso, row)
}

/** Maximum number of endpoints that one step of a search visits. */
const ENDPOINTS_PER_STEP = 500

/**
 * SQL of the endpoints with pending deliveries, from one endpoint to the next along the partial index. The cost depends
 * on the number of endpoints, not on the number of their deliveries.
 * @param from SQL condition: the endpoint after which to begin
 * @param mayContinue SQL condition: true if another endpoint may follow
 */
const withPendingSql = (from: string, mayContinue: string) => `with recursive p as (
    (select comercio_id, modo, webhook, 1 as n from webhook_aviso where estado = 'pendiente' ${from}
     order by comercio_id, modo, webhook limit 1)
    union all
    select s.*, p.n + 1 from p cross join lateral (
      select e.comercio_id, e.modo, e.webhook from webhook_aviso e
      where e.estado = 'pendiente' and (e.comercio_id, e.modo, e.webhook) > (p.comercio_id, p.modo, p.webhook)
      order by e.comercio_id, e.modo, e.webhook limit 1) s
    where ${mayContinue}
  )`

type FoundEndpoint = WebhookKey & { n: number; due: boolean }

const FIND_DUE = statement<Record<'from_comercio' | 'modo' | 'webhook', string> & { now: Date }, FoundEndpoint>(
  'avisos.findDue',
  'part',
  `${withPendingSql('and (comercio_id, modo, webhook) > (:from_comercio::uuid, :modo::text, :webhook::text)', `p.n < ${ENDPOINTS_PER_STEP}`)}
   select p.*, exists (
     select from webhook w join webhook_aviso e on ${SAME_WEBHOOK('w')} and e.estado = 'pendiente' and e.proximo_en <= ${UNTIL}
     where w.comercio_id = p.comercio_id and w.modo = p.modo and w.webhook = p.webhook and w.estado <> 'eliminado'
   ) as due
   from p order by p.n`,
)

const SEARCH_START: Record<keyof WebhookKey, string> = {
  comercio_id: '00000000-0000-0000-0000-000000000000',
  modo: '',
  webhook: '',
}

/**
 * Returns the next endpoints that have due deliveries in one database, after `after` or from the beginning. With
 * Citus, several databases hold merchants' rows, and each is searched by itself.
 * @returns `ultimo`: the endpoint after which the next step begins; undefined at the end
 */
export async function findDue(
  db: Pick<Db, 'query'>,
  now: Date,
  after: WebhookKey | undefined,
): Promise<{ claves: WebhookKey[]; ultimo: WebhookKey | undefined }> {
  const { comercio_id, modo, webhook } = after ?? SEARCH_START
  const rows = await db.query(FIND_DUE, { from_comercio: comercio_id, modo, webhook, now })
  return {
    claves: rows.filter(({ due }) => due),
    ultimo: rows.length === ENDPOINTS_PER_STEP ? rows.at(-1) : undefined,
  }
}

/** Maximum number of deliveries that are counted. */
const MAX_COUNTED = 20_000

const COUNT_DUE = statement<{ now: Date }, { webhook: string; count: number }>(
  'avisos.countDue',
  'part',
  `${withPendingSql('', 'true')}
   select webhook, count(*)::int as count from (
     select w.webhook from p join webhook w on w.comercio_id = p.comercio_id and w.modo = p.modo and w.webhook = p.webhook
       and w.estado <> 'eliminado'
     join webhook_aviso e on ${SAME_WEBHOOK('w')} and e.estado = 'pendiente' and e.proximo_en <= ${UNTIL}
     limit ${MAX_COUNTED}) v
   group by webhook`,
)

/** Finds endpoints that a process holds. */
const WITH_LEASE = statement<{ webhooks: readonly string[] }, { webhook: string }>(
  'avisos.withLease',
  'central',
  'select webhook from webhook_arriendo where webhook = any(:webhooks::text[])',
)

/**
 * Counts due deliveries of endpoints that no process holds; some 20,000 at most. Deliveries that wait for
 * their time or for their endpoint do not count. The count is 0 at any quiet moment. For an instant after a commit, it
 * includes deliveries that the next announcement or search takes.
 */
export async function unleasedDeliveries({ db, clock }: { db: Db; clock: () => Date }): Promise<number> {
  const due = await queryAllParts(db, ({ query }) => query(COUNT_DUE, { now: clock() }))
  const leased = await db.query(WITH_LEASE, { webhooks: due.map(({ webhook }) => webhook) })
  const leasedWebhooks = new Set<string | null>(leased.map(({ webhook }) => webhook))
  const counts = due.filter(({ webhook }) => !leasedWebhooks.has(webhook)).map((left) => left.count)
  return Math.min(
    counts.reduce((left, right) => left + right, 0),
    MAX_COUNTED,
  )
}

/** Time after which a due delivery counts as overdue, in milliseconds. */
const OVERDUE_AFTER_MS = 10 * MINUTE_MS

// A probe either ends the pause of a failing endpoint or starts another pause. If a pause ended long ago, no probe was
// sent since.
const COUNT_OVERDUE = statement<{ now: Date; before: Date }, { count: number }>(
  'avisos.countOverdue',
  'part',
  `${withPendingSql('', 'true')}
   select count(*)::int as count from (
     select from p join webhook w on w.comercio_id = p.comercio_id and w.modo = p.modo and w.webhook = p.webhook
       and w.estado = 'activo' and w.estado_en <= :before and w.comprobado_en <= :before
       and (w.freno_vence_en is null or w.freno_vence_en <= :before
         or w.freno_vence_en > :now::timestamptz + interval '${2 * MAX_BRAKE} ms')
     join webhook_aviso e on ${SAME_WEBHOOK('w')} and e.estado = 'pendiente' and e.proximo_en > 'epoch' and e.proximo_en <= :before
     limit ${MAX_COUNTED}) v`,
)

/**
 * Counts deliveries that have been due for ten minutes and whose endpoint could have received them, leased or not; some
 * 20,000 at most. Deliveries of paused or failing endpoints, and those sent on request, do not count.
 */
export async function overdueDeliveries({ db, clock }: { db: Db; clock: () => Date }): Promise<number> {
  const now = clock()
  const before = new Date(now.getTime() - OVERDUE_AFTER_MS)
  const rows = await queryAllParts(db, ({ query }) => query(COUNT_OVERDUE, { now, before }))
  return Math.min(
    rows.reduce((sum, { count }) => sum + count, 0),
    MAX_COUNTED,
  )
}

const NEXT_DUE = statement<{ claves: string; now: Date }, WebhookKey & { en: Date }>(
  'avisos.nextDue',
  'part',
  `select w.comercio_id, w.modo, w.webhook, greatest(e.proximo_en, w.freno_vence_en, :now::timestamptz) as en
   from json_to_recordset(:claves::json) as x(comercio_id uuid, modo text, webhook text)
   join webhook w on w.comercio_id = x.comercio_id and w.modo = x.modo and w.webhook = x.webhook and w.estado = 'activo'
     and w.comprobado_en is not null
   cross join lateral (select e.proximo_en from webhook_aviso e where ${SAME_WEBHOOK('w')} and e.estado = 'pendiente'
     order by e.proximo_en limit 1) e`,
)

/** Returns the time when each endpoint may next be sent a delivery. Endpoints with no waiting delivery are left out. */
export const nextDueOf = (db: Db, keys: readonly WebhookKey[], now: Date) =>
  queryByComercio(db, keys, ({ query }, shardKeys) => query(NEXT_DUE, { claves: JSON.stringify(shardKeys), now }))
