import { type Db, statement } from '../../data/db.ts'
import { VISIBLE_TO_FEED } from '../../data/order.ts'
import type { Modo, TipoDeEvento } from '../../generado/contrato/tipos/index.ts'
import { COLUMNAS_DE_EVENTO, type EventoLeido, type FilaEvento } from './evento.ts'

/**
 * SQL condition for the events after a position. The event can be served, was registered at `desde` or later, and is
 * not visible in the snapshot `visto`.
 */
const SIGUE = `${VISIBLE_TO_FEED} and (xid, guia_id, secuencia) > (:xid::text::xid8, :guia_id::uuid, :secuencia::int)
  and registrado_en >= :desde::timestamptz
  and (:visto::pg_snapshot is null or not pg_visible_in_snapshot(xid, :visto::pg_snapshot))`

const COLUMNAS = `${COLUMNAS_DE_EVENTO}, guia_id, xid::text as lugar`

type Parametros = {
  comercio_id: string
  modo: Modo
  xid: string
  guia_id: string
  secuencia: number
  desde: Date
  visto: string | null
  cuantos: number
}
type FilaDelFlujo = EventoLeido & Pick<FilaEvento, 'guia_id'> & { lugar: string }

const FLUJO = statement<Parametros, FilaDelFlujo>(
  'eventos.flujo',
  `select ${COLUMNAS} from evento where comercio_id = :comercio_id and modo = :modo and ${SIGUE}
   order by xid, guia_id, secuencia limit :cuantos`,
  { plan: 'generic' },
)

/**
 * Reads each type from its own range of the index and merges the ranges. A rare type costs as much as a frequent one.
 */
const DE_TIPOS = statement<Parametros & { tipos: readonly TipoDeEvento[] }, FilaDelFlujo>(
  'eventos.flujoDeTipos',
  `select ${COLUMNAS} from unnest(:tipos::text[]) t(suyo) cross join lateral (
     select * from evento where comercio_id = :comercio_id and modo = :modo and tipo = t.suyo and ${SIGUE}
     order by xid, guia_id, secuencia limit :cuantos) e
   order by xid, guia_id, secuencia limit :cuantos`,
  { plan: 'generic' },
)

/**
 * Reads all events of the guide before sorting them; a guide has few. Otherwise the planner would search for them among
 * the events of all guides.
 */
const DE_GUIA = statement<Parametros & { guia: string; tipos: readonly TipoDeEvento[] | null }, FilaDelFlujo>(
  'eventos.flujoDeGuia',
  `with e as materialized (
     select * from evento where comercio_id = :comercio_id and modo = :modo
       and guia_id = (select id from guia_indice where guia = :guia and comercio_id = :comercio_id and modo = :modo))
   select ${COLUMNAS} from e where ${SIGUE} and (:tipos::text[] is null or tipo = any(:tipos))
   order by xid, guia_id, secuencia limit :cuantos`,
)

/**
 * Finds the transaction from which the feed contains events registered at `desde` or later. A binary search takes some
 * forty lookups in the feed's index, for a feed of any length. Transaction numbers follow the clock, except for the
 * duration of transactions and the difference between two processes' clocks. The search therefore looks for a time one
 * minute earlier; from there on, `registrado_en` decides.
 */
const COMIENZO_DESDE = statement<{ comercio_id: string; modo: Modo; desde: Date }, { xid: string }>(
  'eventos.comienzoDesde',
  `with recursive b(antes, despues) as (
     select coalesce((select xid from evento where comercio_id = :comercio_id and modo = :modo
         order by xid, guia_id, secuencia limit 1), fin)::text::int8 - 1, fin::text::int8
     from flujo_hasta() fin
     union all
     select case when p.anterior then m.medio else antes end, case when p.anterior then despues else m.medio end
     from b, lateral (select (antes + despues) / 2 as medio) m, lateral (select coalesce((
         select registrado_en < :desde::timestamptz - interval '1 minute' from evento
         where comercio_id = :comercio_id and modo = :modo and xid >= m.medio::text::xid8 and ${VISIBLE_TO_FEED}
         order by xid, guia_id, secuencia limit 1), false) as anterior) p
     where despues - antes > 1
   )
   select despues::text as xid from b order by despues - antes limit 1`,
)

/**
 * Returns the end of the events that can be served. `visto` is the current snapshot if events exist beyond that end,
 * and null otherwise. These events are committed but wait until an older transaction ends.
 */
const FINAL = statement<{ comercio_id: string; modo: Modo }, { xid: string; visto: string | null }>(
  'eventos.final',
  `select fin::text as xid, case when exists (select from evento
     where comercio_id = :comercio_id and modo = :modo and xid >= fin) then flujo_ahora()::text end as visto
   from flujo_hasta() fin`,
)

/** Maximum length of a snapshot in a cursor, in characters. A snapshot of some 150 transactions in progress fits. */
const MAX_VISTO = 2_500

/**
 * Position in the feed: the event after which the feed continues. Events registered before `desde` (milliseconds since
 * 1970) are excluded. Events visible in the snapshot `visto` (a `pg_snapshot`) are excluded, too.
 */
export type PosicionDelFlujo = readonly [
  xid: string,
  guiaId: string,
  secuencia: number,
  desde: number,
  ...visto: string[],
]

const NINGUNA_GUIA = '00000000-0000-0000-0000-000000000000'

/** Position before the first event of the feed. */
export const COMIENZO: PosicionDelFlujo = ['0', NINGUNA_GUIA, 0, 0]

/** Returns the position before the first event that was registered at `desde` or later. */
export async function posicionDesde(db: Db, comercio_id: string, modo: Modo, desde: Date): Promise<PosicionDelFlujo> {
  const [fila] = await db.consultar(COMIENZO_DESDE, { comercio_id, modo, desde })
  return [fila!.xid, NINGUNA_GUIA, 0, desde.getTime()]
}

/**
 * Returns the position after all events that exist now, including events that cannot be served yet. With very many
 * transactions in progress, the snapshot exceeds {@link MAX_VISTO}, and the events that cannot be served yet come after
 * the position.
 */
export async function posicionFinal(db: Db, comercio_id: string, modo: Modo): Promise<PosicionDelFlujo> {
  const [fila] = await db.consultar(FINAL, { comercio_id, modo })
  const { xid, visto } = fila!
  return visto && visto.length <= MAX_VISTO ? [xid, NINGUNA_GUIA, 0, 0, visto] : [xid, NINGUNA_GUIA, 0, 0]
}

/**
 * Returns the position after `evento`, which was read from the position `antes`. The snapshot is kept as long as it can
 * exclude an event.
 */
export function posicionTras(antes: PosicionDelFlujo, evento: FilaDelFlujo): PosicionDelFlujo {
  const [, , , desde, visto] = antes
  const aqui = [evento.lugar, evento.guia_id, evento.secuencia, desde] as const
  const [, hasta] = visto?.split(':') ?? []
  return visto && hasta && BigInt(evento.lugar) < BigInt(hasta) ? [...aqui, visto] : aqui
}

/** Filters of the feed: by types, by guide, or none. */
export interface FiltroDeFlujo {
  tipos?: readonly TipoDeEvento[]
  guia?: string
}

/** Reads the next events of a merchant in one mode, in the feed's order. */
export function leerFlujo(
  db: Db,
  comercio_id: string,
  modo: Modo,
  [xid, guia_id, secuencia, desde, visto]: PosicionDelFlujo,
  { tipos, guia }: FiltroDeFlujo,
  cuantos: number,
): Promise<FilaDelFlujo[]> {
  const parametros = {
    comercio_id,
    modo,
    xid,
    guia_id,
    secuencia,
    desde: new Date(desde),
    visto: visto ?? null,
    cuantos,
  }
  if (guia !== undefined) return db.consultar(DE_GUIA, { ...parametros, guia, tipos: tipos ?? null })
  return tipos ? db.consultar(DE_TIPOS, { ...parametros, tipos }) : db.consultar(FLUJO, parametros)
}
