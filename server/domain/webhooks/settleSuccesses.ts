import { type Db, type Query, statement } from '../../data/db.ts'
import { askByPart } from '../../data/spread.ts'
import type { Exito } from './entrega.ts'
import type { AttemptResult } from './settleAttempts.ts'

interface Arreglos {
  comercios: string[]
  modos: string[]
  webhooks: string[]
  cuales: number[]
  guias: string[]
  secuencias: number[]
  turnos: number[]
  status: number[]
  ids: string[]
  exitos: string[]
  ahora: Date
}

/**
 * Settles successful first attempts at healthy endpoints: writes each attempt into the row of its delivery, if the
 * delivery is still in the attempt's turn (`turno`). Returns the numbers of the attempts whose delivery is in another
 * turn. Attempts that this statement settled before (the commit's response was lost) are not returned. The expression
 * `e.estado || ''` keeps the planner from the index of pending deliveries. If the planner believed that few deliveries
 * are pending, it would use that index and read all waiting deliveries of other endpoints.
 */
const ASENTAR = statement<Arreglos, { n: string }>(
  'webhookEntregas.asentarExitos',
  `with w as materialized (
     select * from unnest(:comercios::uuid[], :modos::text[], :webhooks::text[]) with ordinality
       as w(comercio_id, modo, webhook, cual)
   ), x as materialized (
     select w.comercio_id, w.modo, w.webhook, x.* from unnest(:cuales::int[], :guias::uuid[], :secuencias::int[],
       :turnos::int[], :status::int[], :ids::text[], :exitos::text[]) with ordinality
       as x(cual, guia_id, secuencia, turno, status, id, exito, n) join w using (cual)
   ), u as (
     update webhook_aviso e set estado = 'entregado', turno = e.turno + 1, intento = 1, intentos = 1,
       terminado_en = :ahora::timestamptz, ultimo_status = x.status, ultimo_error = null, exito = x.exito::json
     from x where e.comercio_id = x.comercio_id and e.modo = x.modo and e.webhook = x.webhook
       and e.guia_id = x.guia_id and e.secuencia = x.secuencia and (e.estado || '') = 'pendiente' and e.turno = x.turno
       and e.intentos = 0
     returning x.n
   )
   select n from x where not exists (select from u where u.n = x.n) and not exists (
     select from webhook_aviso e where e.comercio_id = x.comercio_id and e.modo = x.modo and e.webhook = x.webhook
       and e.guia_id = x.guia_id and e.secuencia = x.secuencia and e.exito ->> 'id' = x.id)`,
  { alcance: 'parte' },
)

/** Settles successful first attempts. Returns the attempts that must be settled like any other attempt. */
export const settleSuccesses = (db: Db, resultados: readonly AttemptResult[], ahora: Date): Promise<AttemptResult[]> =>
  askByPart(
    db,
    resultados,
    ({ entrega }) => entrega.comercio_id,
    ({ consultar }, suyos) => asentar(consultar, suyos, ahora),
  )

async function asentar(consultar: Query, resultados: readonly AttemptResult[], ahora: Date): Promise<AttemptResult[]> {
  const cuales = new Map<string, number>()
  const unos: AttemptResult[] = []
  for (const uno of resultados) if (!cuales.has(uno.entrega.webhook)) cuales.set(uno.entrega.webhook, unos.push(uno))
  const sobran = await consultar(ASENTAR, {
    comercios: unos.map(({ entrega }) => entrega.comercio_id),
    modos: unos.map(({ entrega }) => entrega.modo),
    webhooks: unos.map(({ entrega }) => entrega.webhook),
    cuales: resultados.map(({ entrega }) => cuales.get(entrega.webhook)!),
    guias: resultados.map(({ entrega }) => entrega.guia_id),
    secuencias: resultados.map(({ entrega }) => entrega.secuencia),
    turnos: resultados.map(({ entrega }) => entrega.turno),
    status: resultados.map(({ respuesta }) => respuesta.status!),
    ids: resultados.map(({ id }) => id),
    exitos: resultados.map((uno) => JSON.stringify(exitoDe(uno))),
    ahora,
  })
  return sobran.map(({ n }) => resultados[Number(n) - 1]!)
}

function exitoDe({ id, entrega, url, secretos, iniciado_en, respuesta }: AttemptResult): Exito {
  const { error: _error, detalle: _detalle, retry_after: _retry, ...dicho } = respuesta
  return { id, causa: entrega.causa, iniciado_en: iniciado_en.toISOString(), url, secretos, ...dicho }
}
