import { askAll, askByMerchant } from '../data/spread.ts'
import { type Db, sentencia } from '../db.ts'
import { COLA_DE_ARRIENDOS } from './bombas.ts'
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
const LEER = sentencia<{ pedidos: string; ahora: Date }, Leida>(
  'webhookEntregas.leer',
  `select x.n, ${DE_ENTREGA.map((c) => `e.${c} as x_${c}`).join(', ')}, e.creado_en as x_creado_en,
     ${DE_CONTENIDO}
   from json_to_recordset(:pedidos::json) as x(n int, comercio_id uuid, modo text, webhook text, cuantas int, salvo text[])
   join webhook w on w.comercio_id = x.comercio_id and w.modo = x.modo and w.webhook = x.webhook
     and w.estado <> 'eliminado'
   cross join lateral (
     select * from webhook_entrega e where ${DE('x')} and e.estado = 'pendiente' and e.proximo_en <= ${HASTA}
       and e.evento <> all (x.salvo)
     order by e.proximo_en, e.guia_id, e.secuencia
     limit case when w.fallas >= ${FALLAS_PARA_FRENAR} then 1 else x.cuantas end) e
   left join guia g on g.comercio_id = e.comercio_id and g.modo = e.modo and g.id = e.guia_id and e.secuencia > 0
   left join evento v on v.comercio_id = e.comercio_id and v.modo = e.modo and v.guia_id = e.guia_id
     and v.secuencia = e.secuencia
   order by x.n, e.proximo_en, e.guia_id, e.secuencia`,
  { alcance: 'parte' },
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
  const filas = await askByMerchant(db, numerados, ({ consultar }, suyos) =>
    consultar(LEER, { pedidos: JSON.stringify(suyos), ahora }),
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

const HALLAR = sentencia<Record<'desde_comercio' | 'modo' | 'webhook', string> & { ahora: Date }, Hallado>(
  'webhookEntregas.hallar',
  `${conPendientes('and (comercio_id, modo, webhook) > (:desde_comercio::uuid, :modo::text, :webhook::text)', `p.n < ${POR_PASO}`)}
   select p.*, exists (
     select from webhook w join webhook_entrega e on ${DE('w')} and e.estado = 'pendiente' and e.proximo_en <= ${HASTA}
     where w.comercio_id = p.comercio_id and w.modo = p.modo and w.webhook = p.webhook and w.estado <> 'eliminado'
   ) as vencidas
   from p order by p.n`,
  { alcance: 'parte' },
)

const COMIENZO: Record<keyof ClaveDeWebhook, string> = {
  comercio_id: '00000000-0000-0000-0000-000000000000',
  modo: '',
  webhook: '',
}

/**
 * The next endpoints of one part that have deliveries due, after one or from the beginning.
 * @returns `ultimo`: where the next step goes on; undefined at the end
 */
export async function hallarVencidas(
  db: Pick<Db, 'consultar'>,
  ahora: Date,
  despues: ClaveDeWebhook | undefined,
): Promise<{ claves: ClaveDeWebhook[]; ultimo: ClaveDeWebhook | undefined }> {
  const { comercio_id, modo, webhook } = despues ?? COMIENZO
  const filas = await db.consultar(HALLAR, { desde_comercio: comercio_id, modo, webhook, ahora })
  return {
    claves: filas.filter(({ vencidas }) => vencidas),
    ultimo: filas.length === POR_PASO ? filas.at(-1) : undefined,
  }
}

/** Deliveries that are counted at most. */
const MUCHAS = 20_000

const VENCIDAS = sentencia<{ ahora: Date }, { webhook: string; cuantas: number }>(
  'webhookEntregas.vencidas',
  `${conPendientes('', 'true')}
   select webhook, count(*)::int as cuantas from (
     select w.webhook from p join webhook w on w.comercio_id = p.comercio_id and w.modo = p.modo and w.webhook = p.webhook
       and w.estado <> 'eliminado'
     join webhook_entrega e on ${DE('w')} and e.estado = 'pendiente' and e.proximo_en <= ${HASTA}
     limit ${MUCHAS}) v
   group by webhook`,
  { alcance: 'parte' },
)

/** Reads the queue's own table, as `cola/rescate.ts` does. No statement of ours writes it. */
const CON_ARRIENDO = sentencia<{ webhooks: readonly string[] }, { webhook: string | null }>(
  'webhookEntregas.conArriendo',
  `select singleton_key as webhook from pgboss.job where name = '${COLA_DE_ARRIENDOS}' and singleton_key = any(:webhooks::text[])
     and state < 'completed'`,
)

/**
 * Deliveries that are neither over, nor waiting for their time or their endpoint, nor of an endpoint that somebody holds or
 * is about to: 0 at any quiet moment. For an instant after a commit they are what the next hint or search takes. Some
 * 20,000 are counted at most.
 */
export async function entregasDeWebhookSinArriendo({ db, reloj }: { db: Db; reloj: () => Date }): Promise<number> {
  const vencidas = await askAll(db, ({ consultar }) => consultar(VENCIDAS, { ahora: reloj() }))
  const conArriendo = await db.consultar(CON_ARRIENDO, { webhooks: vencidas.map(({ webhook }) => webhook) })
  const tomados = new Set<string | null>(conArriendo.map(({ webhook }) => webhook))
  const cuantas = vencidas.filter(({ webhook }) => !tomados.has(webhook)).map((una) => una.cuantas)
  return Math.min(
    cuantas.reduce((una, otra) => una + otra, 0),
    MUCHAS,
  )
}

const PROXIMAS = sentencia<{ claves: string; ahora: Date }, ClaveDeWebhook & { en: Date }>(
  'webhookEntregas.proximas',
  `select w.comercio_id, w.modo, w.webhook, greatest(e.proximo_en, w.freno_vence_en, :ahora::timestamptz) as en
   from json_to_recordset(:claves::json) as x(comercio_id uuid, modo text, webhook text)
   join webhook w on w.comercio_id = x.comercio_id and w.modo = x.modo and w.webhook = x.webhook and w.estado = 'activo'
     and w.comprobado_en is not null
   cross join lateral (select e.proximo_en from webhook_entrega e where ${DE('w')} and e.estado = 'pendiente'
     order by e.proximo_en limit 1) e`,
  { alcance: 'parte' },
)

/** When each of these endpoints may next be sent something; those for which nothing waits are left out. */
export const proximasDe = (db: Db, claves: readonly ClaveDeWebhook[], ahora: Date) =>
  askByMerchant(db, claves, ({ consultar }, suyas) => consultar(PROXIMAS, { claves: JSON.stringify(suyas), ahora }))
