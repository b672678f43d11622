import { type Db, sentencia } from '../db.ts'
import { type DeUno, enCadaMotor, porComercio, suyo } from '../motor.ts'
import { COLA_DE_ARRIENDOS } from './arriendos.ts'
import { FALLAS_PARA_FRENAR, FRENO_MAXIMO } from './calendario.ts'
import {
  type Contenido,
  contenidoDe,
  DE_CONTENIDO,
  type FilaDeContenido,
  type FilaEntregaDeWebhook,
} from './entrega.ts'
import type { ClaveDeWebhook } from './webhook.ts'

/**
 * SQL of the instant until which deliveries of the endpoint `w` are due: now for one that may be sent to, else only what
 * somebody asked to be sent (`YA`). A pause that a clock gone wrong put far ahead doesn't count.
 */
const HASTA = `case
  when w.estado = 'activo' and w.comprobado_en is not null and (w.freno_vence_en is null or w.freno_vence_en <= :ahora
    or w.freno_vence_en > :ahora::timestamptz + interval '${2 * FRENO_MAXIMO} ms') then :ahora::timestamptz
  else timestamptz '1970-01-01Z' end`

/** SQL of the condition that `e` is a delivery of `a`'s endpoint. */
const DE = (a: string) => `e.comercio_id = ${a}.comercio_id and e.modo = ${a}.modo and e.webhook = ${a}.webhook`

const DE_ENTREGA = [
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

/** A delivery that is due, of the `n`th endpoint asked for, with what its body is made of. */
type Leida = FilaDeContenido & { n: number; x_creado_en: Date } & {
  [C in (typeof DE_ENTREGA)[number] as `x_${C}`]: FilaEntregaDeWebhook[C]
}

/**
 * What is due of some endpoints, the oldest first, as far as it isn't in memory already; one of an endpoint that fails, as
 * its probe.
 */
const LEER = sentencia<DeUno & { pedidos: string; ahora: Date }, Leida>(
  'webhookEntregas.leer',
  enCadaMotor(
    (citus) => `select x.n, ${DE_ENTREGA.map((c) => `e.${c} as x_${c}`).join(', ')}, e.creado_en as x_creado_en,
     ${DE_CONTENIDO}
   from json_to_recordset(:pedidos::json) as x(n int, comercio_id uuid, modo text, webhook text, cuantas int, salvo text[])
   join webhook w on w.comercio_id = x.comercio_id and w.modo = x.modo and w.webhook = x.webhook
     and w.estado <> 'eliminado'${suyo(citus, 'w')}
   cross join lateral (
     select * from webhook_entrega e where ${DE('x')}${suyo(citus, 'e')} and e.estado = 'pendiente' and e.proximo_en <= ${HASTA}
       and e.evento <> all (x.salvo)
     order by e.proximo_en, e.guia_id, e.secuencia
     limit case when w.fallas >= ${FALLAS_PARA_FRENAR} then 1 else x.cuantas end) e
   left join guia g on g.comercio_id = e.comercio_id and g.modo = e.modo and g.id = e.guia_id and e.secuencia > 0${suyo(citus, 'g')}
   left join evento v on v.comercio_id = e.comercio_id and v.modo = e.modo and v.guia_id = e.guia_id
     and v.secuencia = e.secuencia${suyo(citus, 'v')}
   order by x.n, e.proximo_en, e.guia_id, e.secuencia`,
  ),
)

/** How many deliveries of an endpoint are wanted, and which are in memory already. */
export interface Pedido extends ClaveDeWebhook {
  cuantas: number
  /** evt_… */
  salvo: readonly string[]
}

/** What is due of each endpoint, in the order in which they were asked for. */
export async function leerVencidas(db: Db, pedidos: readonly Pedido[], ahora: Date): Promise<Contenido[][]> {
  const leidas: Contenido[][] = pedidos.map(() => [])
  const numerados = pedidos.map((uno, n) => ({ n, ...uno }))
  const filas = await porComercio(db.motor, numerados, (suyos, comercio_id) =>
    db.consultar(LEER, { comercio_id, pedidos: JSON.stringify(suyos), ahora }),
  )
  for (const fila of filas) {
    const contenido = aContenido(pedidos[fila.n]!, fila)
    if (contenido) leidas[fila.n]!.push(contenido)
  }
  return leidas
}

function aContenido({ comercio_id, modo, webhook }: ClaveDeWebhook, fila: Leida): Contenido | undefined {
  const entrega: FilaEntregaDeWebhook = {
    ...{ comercio_id, modo, webhook },
    guia_id: fila.x_guia_id,
    secuencia: fila.x_secuencia,
    evento: fila.x_evento,
    tipo: fila.x_tipo,
    estado: 'pendiente',
    causa: fila.x_causa,
    turno: fila.x_turno,
    intento: fila.x_intento,
    intentos: fila.x_intentos,
    proximo_en: fila.x_proximo_en,
    ultimo_status: null,
    ultimo_error: null,
    exito: null,
    datos: fila.x_datos,
    creado_en: fila.x_creado_en,
    terminado_en: null,
  }
  return contenidoDe(entrega, fila)
}

/** Endpoints that one step of a search looks at. */
const POR_PASO = 500

/**
 * SQL of the endpoints that have pending deliveries, from one to the next along the partial index: the cost is that of the
 * endpoints, not of what waits behind them.
 * @param desde a condition: after which endpoint to begin
 * @param cuantos a condition: whether there may be another one
 */
const conPendientes = (desde: string, cuantos: string) => `with recursive p as (
    (select comercio_id, modo, webhook, 1 as n from webhook_entrega where estado = 'pendiente' ${desde}
     order by comercio_id, modo, webhook limit 1)
    union all
    select s.*, p.n + 1 from p cross join lateral (
      select e.comercio_id, e.modo, e.webhook from webhook_entrega e
      where e.estado = 'pendiente' and (e.comercio_id, e.modo, e.webhook) > (p.comercio_id, p.modo, p.webhook)
      order by e.comercio_id, e.modo, e.webhook limit 1) s
    where ${cuantos}
  )`

type Hallado = ClaveDeWebhook & { n: number; vencidas: boolean }

const HALLAR = sentencia<Record<keyof ClaveDeWebhook, string> & { ahora: Date }, Hallado>('webhookEntregas.hallar', {
  postgres: `${conPendientes('and (comercio_id, modo, webhook) > (:comercio_id::uuid, :modo::text, :webhook::text)', `p.n < ${POR_PASO}`)}
   select p.*, exists (
     select from webhook w join webhook_entrega e on ${DE('w')} and e.estado = 'pendiente' and e.proximo_en <= ${HASTA}
     where w.comercio_id = p.comercio_id and w.modo = p.modo and w.webhook = p.webhook and w.estado <> 'eliminado'
   ) as vencidas
   from p order by p.n`,
  // It goes from one to the next on no more than one machine; all at once it looks at each endpoint.
  citus: `select comercio_id, modo, webhook, 0 as n, exists (
       select from webhook_entrega e where ${DE('w')} and e.estado = 'pendiente' and e.proximo_en <= ${HASTA}) as vencidas
     from webhook w where w.estado <> 'eliminado'
       and (comercio_id, modo, webhook) > (:comercio_id::uuid, :modo::text, :webhook::text)
     order by comercio_id, modo, webhook limit ${POR_PASO}`,
})

const COMIENZO: Record<keyof ClaveDeWebhook, string> = {
  comercio_id: '00000000-0000-0000-0000-000000000000',
  modo: '',
  webhook: '',
}

/**
 * The next endpoints that have deliveries due, after one or from the beginning.
 * @returns `ultimo`: where the next step goes on; undefined at the end
 */
export async function hallarVencidas(
  db: Pick<Db, 'consultar'>,
  ahora: Date,
  despues: ClaveDeWebhook | undefined,
): Promise<{ claves: ClaveDeWebhook[]; ultimo: ClaveDeWebhook | undefined }> {
  const { comercio_id, modo, webhook } = despues ?? COMIENZO
  const filas = await db.consultar(HALLAR, { comercio_id, modo, webhook, ahora })
  return {
    claves: filas.filter(({ vencidas }) => vencidas),
    ultimo: filas.length === POR_PASO ? filas.at(-1) : undefined,
  }
}

/** Reads the queue's own table, as `cola/rescate.ts` does. No statement of ours writes it. */
const SIN_ARRIENDO = sentencia<{ ahora: Date }, { cuantas: number }>('webhookEntregas.sinArriendo', {
  postgres: `${conPendientes('', 'true')}
   select count(*)::int as cuantas from (
     select from p join webhook w on w.comercio_id = p.comercio_id and w.modo = p.modo and w.webhook = p.webhook
       and w.estado <> 'eliminado'
     join webhook_entrega e on ${DE('w')} and e.estado = 'pendiente' and e.proximo_en <= ${HASTA}
     where not exists (select from pgboss.job j where j.name = '${COLA_DE_ARRIENDOS}' and j.singleton_key = w.webhook
       and j.state < 'completed')
     limit 20000) v`,
  citus: `with v as materialized (
     select w.webhook, (select count(*) from (select from webhook_entrega e where ${DE('w')} and e.estado = 'pendiente'
       and e.proximo_en <= ${HASTA} limit 20000) x) as cuantas
     from webhook w where w.estado <> 'eliminado')
   select least(coalesce(sum(cuantas), 0), 20000)::int as cuantas from v
   where cuantas > 0 and not exists (select from pgboss.job j where j.name = '${COLA_DE_ARRIENDOS}'
     and j.singleton_key = v.webhook and j.state < 'completed')`,
})

/**
 * Deliveries that are neither over, nor waiting for their time or their endpoint, nor of an endpoint that somebody holds or
 * is about to: 0 at any quiet moment. For an instant after a commit they are what the next hint or search takes. At most
 * 20,000 are counted.
 */
export async function entregasDeWebhookSinArriendo({ db, reloj }: { db: Db; reloj: () => Date }): Promise<number> {
  const [fila] = await db.consultar(SIN_ARRIENDO, { ahora: reloj() })
  return fila!.cuantas
}

const PROXIMAS = sentencia<DeUno & { claves: string; ahora: Date }, ClaveDeWebhook & { en: Date }>(
  'webhookEntregas.proximas',
  enCadaMotor(
    (
      citus,
    ) => `select w.comercio_id, w.modo, w.webhook, greatest(e.proximo_en, w.freno_vence_en, :ahora::timestamptz) as en
   from json_to_recordset(:claves::json) as x(comercio_id uuid, modo text, webhook text)
   join webhook w on w.comercio_id = x.comercio_id and w.modo = x.modo and w.webhook = x.webhook and w.estado = 'activo'
     and w.comprobado_en is not null${suyo(citus, 'w')}
   cross join lateral (select e.proximo_en from webhook_entrega e where ${DE('w')}${suyo(citus, 'e')} and e.estado = 'pendiente'
     order by e.proximo_en limit 1) e`,
  ),
)

/** When each of these endpoints may next be sent something; those for which nothing waits are left out. */
export const proximasDe = (db: Db, claves: readonly ClaveDeWebhook[], ahora: Date) =>
  porComercio(db.motor, claves, (suyas, comercio_id) =>
    db.consultar(PROXIMAS, { comercio_id, claves: JSON.stringify(suyas), ahora }),
  )
