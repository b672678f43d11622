import type { JobInsert } from 'pg-boss'
import { type Db, sentencia } from '../db.ts'
import { FALLAS_PARA_FRENAR } from './calendario.ts'
import { type Clave, YA } from './entrega.ts'

/** Jobs of one endpoint in the queue: however much waits behind it, it waits here. */
export const VENTANA = 50

/** What a job carries: whose turn it is. Its id is made of it, so the same turn fed twice is one job. */
export type Encargo = Clave & { turno: number }

/**
 * What is due now, at most {@link VENTANA} an endpoint and one of an endpoint that fails: its probe. `p` jumps from one
 * endpoint with pending deliveries to the next along the partial index, so the cost is that of the endpoints, not of the
 * backlog. What somebody asked to be sent now (`YA`) is due whatever the endpoint's state, and stands before all else.
 */
const VENCIDAS = `with recursive p as (
    (select comercio_id, modo, webhook from entrega where estado = 'pendiente'
     order by comercio_id, modo, webhook limit 1)
    union all
    select s.* from p cross join lateral (
      select e.comercio_id, e.modo, e.webhook from entrega e
      where e.estado = 'pendiente' and (e.comercio_id, e.modo, e.webhook) > (p.comercio_id, p.modo, p.webhook)
      order by e.comercio_id, e.modo, e.webhook limit 1) s
  )
  select v.*, md5(v.webhook || v.guia_id || v.secuencia || ':' || v.turno)::uuid as trabajo from p
  join webhook w on w.comercio_id = p.comercio_id and w.modo = p.modo and w.webhook = p.webhook
  cross join lateral (
    select e.comercio_id, e.modo, e.webhook, e.guia_id, e.secuencia, e.turno, e.proximo_en from entrega e
    where e.comercio_id = p.comercio_id and e.modo = p.modo and e.webhook = p.webhook and e.estado = 'pendiente'
      and e.proximo_en <= case
        when w.estado = 'activo' and (w.freno_hasta is null or w.freno_hasta <= $1) then $1::timestamptz
        else timestamptz '1970-01-01Z' end
    order by e.proximo_en
    limit case when w.fallas >= ${FALLAS_PARA_FRENAR} then 1 else ${VENTANA} end) v
  where w.estado <> 'eliminado'`

const PENDIENTES = sentencia('entregas.pendientes', VENCIDAS)

/** Jobs for what is due. What was asked for now goes first. */
export async function entregasPendientes({ db, reloj }: { db: Db; reloj: () => Date }): Promise<JobInsert<Encargo>[]> {
  const filas = await db.consultar<Encargo & { trabajo: string; proximo_en: Date }>(PENDIENTES, [reloj()])
  return filas.map(({ trabajo, proximo_en, comercio_id, modo, webhook, guia_id, secuencia, turno }) => ({
    id: trabajo,
    data: { comercio_id, modo, webhook, guia_id, secuencia, turno },
    group: { id: webhook },
    ...(proximo_en.getTime() === YA.getTime() ? { priority: 1 } : {}),
  }))
}

/** The one place that reads the queue's own table; nobody writes it. */
const SIN_TRABAJO = sentencia(
  'entregas.sinTrabajo',
  `select count(*)::int as cuantas from (${VENCIDAS}) v
   where not exists (select from pgboss.job j where j.name = 'entregas' and j.id = v.trabajo and j.state < 'completed')`,
)

/**
 * Deliveries that are neither over, nor waiting for their time or their endpoint, nor backed by a live job: 0 at any quiet
 * moment. For an instant after a commit they are what the feeder's next round takes.
 */
export async function entregasSinTrabajo({ db, reloj }: { db: Db; reloj: () => Date }): Promise<number> {
  const [fila] = await db.consultar<{ cuantas: number }>(SIN_TRABAJO, [reloj()])
  return fila!.cuantas
}
