import type { JobInsert } from 'pg-boss'
import { type Db, sentencia } from '../db.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import { FALLAS_PARA_FRENAR, FRENO_MAXIMO } from './calendario.ts'
import type { Clave, FilaEntregaDeWebhook } from './entrega.ts'
import type { ClaveDeWebhook } from './webhook.ts'

/** Jobs of one endpoint in the queue: however much waits behind it, it waits here. */
export const VENTANA = 50

/** What a job carries: whose turn it is. Its id is made of it, so the same turn fed twice is one job. */
export type Encargo = Clave & Pick<FilaEntregaDeWebhook, 'turno'>

/** Endpoints looked at in one round; the next one goes on after them. */
const ENDPOINTS = 100

/**
 * What is due now, at most {@link VENTANA} an endpoint and one of an endpoint that fails: its probe. `p` jumps from one
 * endpoint with pending deliveries to the next along the partial index, so the cost is that of the endpoints, not of the
 * backlog. What somebody asked to be sent now (`YA`) is due whatever the endpoint's state, and stands before all else of
 * its endpoint. A pause that a clock gone wrong put far ahead doesn't count.
 * @param desde a condition: after which endpoint to begin
 * @param cuantos a condition: whether there may be another one
 */
const vencidas = (desde: string, cuantos: string) => `with recursive p as (
    (select comercio_id, modo, webhook, 1 as n from webhook_entrega where estado = 'pendiente' ${desde}
     order by comercio_id, modo, webhook limit 1)
    union all
    select s.*, p.n + 1 from p cross join lateral (
      select e.comercio_id, e.modo, e.webhook from webhook_entrega e
      where e.estado = 'pendiente' and (e.comercio_id, e.modo, e.webhook) > (p.comercio_id, p.modo, p.webhook)
      order by e.comercio_id, e.modo, e.webhook limit 1) s
    where ${cuantos}
  )
  select v.*, md5(v.webhook || v.guia_id || v.secuencia || ':' || v.turno)::uuid as trabajo, p.n,
    p.comercio_id as de_comercio, p.modo as de_modo, p.webhook as de_webhook from p
  left join webhook w on w.comercio_id = p.comercio_id and w.modo = p.modo and w.webhook = p.webhook
    and w.estado <> 'eliminado'
  left join lateral (
    select e.comercio_id, e.modo, e.webhook, e.guia_id, e.secuencia, e.turno, e.proximo_en from webhook_entrega e
    where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook and e.estado = 'pendiente'
      and e.proximo_en <= case
        when w.estado = 'activo' and (w.freno_vence_en is null or w.freno_vence_en <= :ahora
          or w.freno_vence_en > :ahora::timestamptz + interval '${2 * FRENO_MAXIMO} ms') then :ahora::timestamptz
        else timestamptz '1970-01-01Z' end
    order by e.proximo_en
    limit case when w.fallas >= ${FALLAS_PARA_FRENAR} then 1 else ${VENTANA} end) v on true`

/** A delivery that is due, and the id of its job. */
type Vencida = Encargo & Pick<FilaEntregaDeWebhook, 'proximo_en'> & { trabajo: string }

/** What is due of the `n`th endpoint of a round, or, where nothing is, only which endpoint that is. */
type Hallada = {
  n: number
  de_comercio: ClaveDeWebhook['comercio_id']
  de_modo: ClaveDeWebhook['modo']
  de_webhook: ClaveDeWebhook['webhook']
} & (Vencida | Record<keyof Vencida, null>)

const PENDIENTES = sentencia<Record<keyof ClaveDeWebhook, string> & { ahora: Date }, Hallada>(
  'webhookEntregas.pendientes',
  vencidas(
    'and (comercio_id, modo, webhook) > (:comercio_id::uuid, :modo::text, :webhook::text)',
    `p.n < ${ENDPOINTS}`,
  ),
)

/** Jobs for what is due; `hayMas`: there are endpoints that this round didn't come to. */
export async function entregasDeWebhookPendientes({
  db,
  reloj,
  ronda,
}: Pick<DepsDeTrabajo, 'db' | 'reloj' | 'ronda'>): Promise<{ trabajos: JobInsert<Encargo>[]; hayMas: boolean }> {
  const despues = ronda.despues ?? { comercio_id: CERO, modo: '', webhook: '' }
  const filas = await db.consultar(PENDIENTES, { ...despues, ahora: reloj() })
  const ultima = filas.reduce<Hallada | undefined>((a, b) => (a && a.n > b.n ? a : b), undefined)
  const hayMas = ultima?.n === ENDPOINTS
  ronda.despues = hayMas
    ? { comercio_id: ultima.de_comercio, modo: ultima.de_modo, webhook: ultima.de_webhook }
    : undefined
  const trabajos = filas.flatMap((fila) => {
    if (fila.trabajo === null) return []
    const { comercio_id, modo, webhook, guia_id, secuencia, turno } = fila
    const data = { comercio_id, modo, webhook, guia_id, secuencia, turno }
    return [{ id: fila.trabajo, data, group: { id: webhook } }]
  })
  return { trabajos, hayMas }
}

const CERO = '00000000-0000-0000-0000-000000000000'

/** The one place that reads the queue's own table; nobody writes it. */
const SIN_TRABAJO = sentencia<{ ahora: Date }, { cuantas: number }>(
  'webhookEntregas.sinTrabajo',
  `select count(*)::int as cuantas from (${vencidas('', 'true')} limit 20000) v
   where trabajo is not null and not exists (select from pgboss.job j where j.name = 'webhook_entregas' and j.id = v.trabajo and j.state < 'completed')`,
)

/**
 * Deliveries that are neither over, nor waiting for their time or their endpoint, nor backed by a live job: 0 at any quiet
 * moment. For an instant after a commit they are what the feeder's next round takes. At most 20,000 are counted.
 */
export async function entregasDeWebhookSinTrabajo({ db, reloj }: { db: Db; reloj: () => Date }): Promise<number> {
  const [fila] = await db.consultar(SIN_TRABAJO, { ahora: reloj() })
  return fila!.cuantas
}
