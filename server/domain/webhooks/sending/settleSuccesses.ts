import { type Db, type Query, statement } from '../../../data/db.ts'
import { queryByPart } from '../../../data/partQueries.ts'
import type { StoredSuccess } from '../delivery.ts'
import type { AttemptResult } from './settleAttempts.ts'

interface SuccessArrays {
  comercios: string[]
  modos: string[]
  webhooks: string[]
  indexes: number[]
  guias: string[]
  secuencias: number[]
  turns: number[]
  status: number[]
  ids: string[]
  successes: string[]
  now: Date
}

/**
 * Settles successful first attempts at healthy endpoints: writes each attempt into the row of its delivery, if the
 * delivery is still in the attempt's turn (`turno`). Returns the numbers of the attempts whose delivery is in another
 * turn. Attempts that this statement settled before (the commit's response was lost) are not returned. The expression
 * `e.estado || ''` keeps the planner from the index of pending deliveries. If the planner believed that few deliveries
 * are pending, it would use that index and read all waiting deliveries of other endpoints.
 */
const SETTLE_SUCCESSES = statement<SuccessArrays, { n: string }>(
  'avisos.settleSuccesses',
  'part',
  `with w as materialized (
     select * from unnest(:comercios::uuid[], :modos::text[], :webhooks::text[]) with ordinality
       as w(comercio_id, modo, webhook, cual)
   ), x as materialized (
     select w.comercio_id, w.modo, w.webhook, x.* from unnest(:indexes::int[], :guias::uuid[], :secuencias::int[],
       :turns::int[], :status::int[], :ids::text[], :successes::text[]) with ordinality
       as x(cual, guia_id, secuencia, turno, status, id, exito, n) join w using (cual)
   ), u as (
     update webhook_aviso e set estado = 'entregado', turno = e.turno + 1, intento = 1, intentos = 1,
       terminado_en = :now::timestamptz, ultimo_status = x.status, ultimo_error = null, exito = x.exito::json
     from x where e.comercio_id = x.comercio_id and e.modo = x.modo and e.webhook = x.webhook
       and e.guia_id = x.guia_id and e.secuencia = x.secuencia and (e.estado || '') = 'pendiente' and e.turno = x.turno
       and e.intentos = 0
     returning x.n
   )
   select n from x where not exists (select from u where u.n = x.n) and not exists (
     select from webhook_aviso e where e.comercio_id = x.comercio_id and e.modo = x.modo and e.webhook = x.webhook
       and e.guia_id = x.guia_id and e.secuencia = x.secuencia and e.exito ->> 'id' = x.id)`,
)

/**
 * Settles successful first attempts. Returns the attempts whose delivery has changed meanwhile. The caller passes them
 * to `settleAttempts`.
 */
export const settleSuccesses = (db: Db, results: readonly AttemptResult[], now: Date): Promise<AttemptResult[]> =>
  queryByPart(
    db,
    results,
    ({ aviso }) => aviso.comercio_id,
    ({ query }, shardResults) => settle(query, shardResults, now),
  )

async function settle(query: Query, results: readonly AttemptResult[], now: Date): Promise<AttemptResult[]> {
  const indexes = new Map<string, number>()
  const webhookResults: AttemptResult[] = []
  for (const result of results)
    if (!indexes.has(result.aviso.webhook)) indexes.set(result.aviso.webhook, webhookResults.push(result))
  const unsettled = await query(SETTLE_SUCCESSES, {
    comercios: webhookResults.map(({ aviso }) => aviso.comercio_id),
    modos: webhookResults.map(({ aviso }) => aviso.modo),
    webhooks: webhookResults.map(({ aviso }) => aviso.webhook),
    indexes: results.map(({ aviso }) => indexes.get(aviso.webhook)!),
    guias: results.map(({ aviso }) => aviso.guia_id),
    secuencias: results.map(({ aviso }) => aviso.secuencia),
    turns: results.map(({ aviso }) => aviso.turno),
    status: results.map(({ respuesta }) => respuesta.status!),
    ids: results.map(({ id }) => id),
    successes: results.map((result) => JSON.stringify(successOf(result))),
    now,
  })
  return unsettled.map(({ n }) => results[Number(n) - 1]!)
}

function successOf({ id, aviso, url, secretos, iniciado_en, respuesta }: AttemptResult): StoredSuccess {
  const { error: _error, detalle: _detail, retry_after: _retry, ...storedAnswer } = respuesta
  return { id, causa: aviso.causa, iniciado_en: iniciado_en.toISOString(), url, secretos, ...storedAnswer }
}
