import { type Db, type RowOf, statement } from '../../data/db.ts'
import type { recuperacion } from '../../generado/contrato/prisma/client.ts'
import type { EstadoDeRecuperacion, Modo, Recuperacion } from '../../generado/contrato/tipos/index.ts'
import { type FilaEvento, quiere } from '../eventos/evento.ts'
import type { AmbitoDeWebhooks, ClaveDeWebhook, FilaWebhook } from './webhook.ts'

/** Row of `recuperacion`. */
export type FilaRecuperacion = RowOf<
  recuperacion,
  { modo: Modo; posicion: RecoveryPosition; estado: EstadoDeRecuperacion }
>

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
export const presentarRecuperacion = (fila: FilaRecuperacion): Recuperacion => ({
  recuperacion: fila.recuperacion,
  webhook: fila.webhook,
  estado: fila.estado,
  desde: fila.desde.toISOString(),
  hasta: fila.hasta.toISOString(),
  todas: fila.todas,
  eventos: fila.eventos,
  avisos: fila.avisos,
  creado_en: fila.creado_en.toISOString(),
  terminado_en: fila.terminado_en?.toISOString() ?? null,
})

const BUSCAR = statement<ClaveDeWebhook & Pick<FilaRecuperacion, 'recuperacion'>, FilaRecuperacion>(
  'recuperacion.buscar',
  `select r.* from recuperacion r
   join webhook w on w.comercio_id = r.comercio_id and w.modo = r.modo and w.webhook = r.webhook
   where r.comercio_id = :comercio_id and r.modo = :modo and r.webhook = :webhook and r.recuperacion = :recuperacion
     and w.estado <> 'eliminado'`,
)

/** Returns the recovery with this identifier; undefined if it, or its endpoint, does not exist. */
export async function leerRecuperacion(
  { consultar }: Pick<Db, 'consultar'>,
  { comercioId, modo }: AmbitoDeWebhooks,
  webhook: string,
  recuperacion: string,
) {
  const [fila] = await consultar(BUSCAR, { comercio_id: comercioId, modo, webhook, recuperacion })
  return fila
}

/**
 * Maximum difference between the clocks of two processes, in milliseconds. Because of it, events are not written
 * strictly in the order of their times.
 */
export const CLOCK_SKEW = 10 * 60_000

type DelComercio = Pick<FilaEvento, 'comercio_id' | 'modo'>

const LIMITES = statement<DelComercio, { primero: string; ultimo: string; fin: string }>(
  'recuperacion.limites',
  `select coalesce(min(xid::text::numeric), 0)::text as primero, coalesce(max(xid::text::numeric), 0)::text as ultimo,
     flujo_fin()::text as fin
   from (
     (select xid from evento where comercio_id = :comercio_id and modo = :modo order by xid limit 1) union all
     (select xid from evento where comercio_id = :comercio_id and modo = :modo order by xid desc limit 1)) e`,
)

const DESDE_XID = statement<DelComercio & { xid: string }, { lugar: string } & Pick<FilaEvento, 'registrado_en'>>(
  'recuperacion.desdeXid',
  `select xid::text as lugar, registrado_en from evento
   where comercio_id = :comercio_id and modo = :modo and xid >= :xid::text::xid8
   order by xid, guia_id, secuencia limit 1`,
)

/**
 * Finds the range of the feed that may contain events from `desde` to `hasta`. A binary search is possible because the
 * feed is nearly in the order of time.
 */
export async function findRange(db: Db, ambito: AmbitoDeWebhooks, desde: Date, hasta: Date): Promise<RecoveryPosition> {
  const suyo = { comercio_id: ambito.comercioId, modo: ambito.modo }
  const [limites] = await db.consultar(LIMITES, suyo)
  const primero = BigInt(limites!.primero)
  /** First transaction whose events are not before `corte`; the number after the last transaction if none exists. */
  const buscar = async (corte: Date) => {
    let bajo = primero
    let alto = BigInt(limites!.ultimo) + 1n
    while (bajo < alto) {
      const medio = (bajo + alto) / 2n
      const [evento] = await db.consultar(DESDE_XID, { ...suyo, xid: String(medio) })
      if (evento && evento.registrado_en < corte) bajo = BigInt(evento.lugar) + 1n
      else alto = medio
    }
    return bajo
  }
  const comienzo = await buscar(new Date(desde.getTime() - CLOCK_SKEW))
  const final = await buscar(new Date(hasta.getTime() + CLOCK_SKEW))
  // A recovery up to the present includes events that commit during this search.
  const abierto = final > BigInt(limites!.ultimo)
  return {
    xid: String(comienzo),
    guia_id: '00000000-0000-0000-0000-000000000000',
    secuencia: 0,
    tope: abierto ? limites!.fin : String(final),
    fin: limites!.fin,
  }
}

/** Parameters of {@link eventosPorRecuperar} and {@link porEnviar}. */
export type PorRecuperar = ClaveDeWebhook &
  Pick<FilaWebhook, 'tipos'> &
  Pick<FilaRecuperacion, 'desde' | 'hasta' | 'todas'> &
  Omit<RecoveryPosition, 'fin'>

/**
 * SQL of the next events after the position of a recovery, in the order of the feed. `suyo` is true if an event is in
 * the time span of the recovery and the endpoint subscribes to the event's type.
 * @param condicion additional SQL condition on the event `v`
 */
export const eventosPorRecuperar = (limite: number, condicion = 'true') => `
  select v.comercio_id, v.modo, v.guia_id, v.secuencia, v.guia, v.tipo, v.registrado_en, v.xid,
    v.registrado_en >= w.desde_ and v.registrado_en < w.hasta_ and ${quiere('w', 'v')} as suyo
  from (select :webhook::text as webhook, :tipos::text[] as tipos, :desde::timestamptz as desde_,
    :hasta::timestamptz as hasta_) w
  join evento v on v.comercio_id = :comercio_id and v.modo = :modo and ${condicion}
    and (v.xid, v.guia_id, v.secuencia) > (:xid::text::xid8, :guia_id::uuid, :secuencia::int)
    and v.xid <= :tope::text::xid8
  order by v.xid, v.guia_id, v.secuencia limit ${limite}`

/** SQL condition that the delivery `e` of an event must be created, or sent again. */
export const porEnviar = (e: string) =>
  `(${e}.evento is null or ${e}.estado = 'fallido' or (:todas::boolean and ${e}.estado = 'entregado'))`
