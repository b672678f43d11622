import type { Modo, TipoDeEvento } from '../contrato/generado/tipos/index.ts'
import { HASTA_AQUI } from '../data/orden.ts'
import { type Db, esRepartida, sentencia } from '../db.ts'
import { COLUMNAS_DE_EVENTO, type EventoLeido, type FilaEvento } from './evento.ts'

/**
 * The condition, as SQL, that an event comes after the position, where it can be served, and neither from before `desde` nor
 * seen in the snapshot `visto`.
 */
const SIGUE = `${HASTA_AQUI} and (xid, guia_id, secuencia) > (:xid::text::xid8, :guia_id::uuid, :secuencia::int)
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

const FLUJO = sentencia<Parametros, FilaDelFlujo>(
  'eventos.flujo',
  `select ${COLUMNAS} from evento where comercio_id = :comercio_id and modo = :modo and ${SIGUE}
   order by xid, guia_id, secuencia limit :cuantos`,
  { planGenerico: true },
)

/** Each type is read from its own range of the index, and the ranges are merged: a rare one costs what a frequent one does. */
const DE_TIPOS = sentencia<Parametros & { tipos: readonly TipoDeEvento[] }, FilaDelFlujo>(
  'eventos.flujoDeTipos',
  `select ${COLUMNAS} from unnest(:tipos::text[]) t(suyo) cross join lateral (
     select * from evento where comercio_id = :comercio_id and modo = :modo and tipo = t.suyo and ${SIGUE}
     order by xid, guia_id, secuencia limit :cuantos) e
   order by xid, guia_id, secuencia limit :cuantos`,
  { planGenerico: true },
)

/** A guide's few events are read whole before they are put in order, or the planner would look for them in everybody's. */
const DE_GUIA = sentencia<Parametros & { guia: string; tipos: readonly TipoDeEvento[] | null }, FilaDelFlujo>(
  'eventos.flujoDeGuia',
  `with e as materialized (
     select * from evento where comercio_id = :comercio_id and modo = :modo
       and guia_id = (select id from guia_indice where guia = :guia and comercio_id = :comercio_id and modo = :modo))
   select ${COLUMNAS} from e where ${SIGUE} and (:tipos::text[] is null or tipo = any(:tipos))
   order by xid, guia_id, secuencia limit :cuantos`,
)

/**
 * The transaction where events registered at an instant or later begin, found by halving, in some forty looks at the feed's
 * index however long the feed is. Transactions follow the clock but for the time they take and the difference of two processes'
 * clocks, for which it begins a minute early: `registrado_en` decides from there on.
 */
const COMIENZO_DESDE = sentencia<{ comercio_id: string; modo: Modo; desde: Date }, { xid: string }>(
  'eventos.comienzoDesde',
  `with recursive b(antes, despues) as (
     select coalesce((select xid from evento where comercio_id = :comercio_id and modo = :modo
         order by xid, guia_id, secuencia limit 1), fin)::text::int8 - 1, fin::text::int8
     from flujo_hasta() fin
     union all
     select case when p.anterior then m.medio else antes end, case when p.anterior then despues else m.medio end
     from b, lateral (select (antes + despues) / 2 as medio) m, lateral (select coalesce((
         select registrado_en < :desde::timestamptz - interval '1 minute' from evento
         where comercio_id = :comercio_id and modo = :modo and xid >= m.medio::text::xid8 and ${HASTA_AQUI}
         order by xid, guia_id, secuencia limit 1), false) as anterior) p
     where despues - antes > 1
   )
   select despues::text as xid from b order by despues - antes limit 1`,
)

/**
 * The end of what can be served, and what is seen beyond it: events that are there already, but wait for an older transaction.
 * What is seen is told by the snapshot, and only where there is such an event.
 */
const FINAL = sentencia<{ comercio_id: string; modo: Modo }, { xid: string; visto: string | null }>(
  'eventos.final',
  `select fin::text as xid, case when exists (select from evento
     where comercio_id = :comercio_id and modo = :modo and xid >= fin) then flujo_ahora()::text end as visto
   from flujo_hasta() fin`,
)

/** Characters of a snapshot that a cursor has room for: some 150 transactions under way. */
const MAX_VISTO = 2_500

/**
 * Where the feed goes on: after an event, with those that were registered since an instant (in milliseconds) and weren't seen in
 * a snapshot (`pg_snapshot`).
 */
export type PosicionDelFlujo = readonly [
  xid: string,
  guiaId: string,
  secuencia: number,
  desde: number,
  ...visto: string[],
]

const NINGUNA_GUIA = '00000000-0000-0000-0000-000000000000'

/** The position before the first event of all. */
export const COMIENZO: PosicionDelFlujo = ['0', NINGUNA_GUIA, 0, 0]

/** The position before the first event that is registered at an instant or later. */
export async function posicionDesde(db: Db, comercio_id: string, modo: Modo, desde: Date): Promise<PosicionDelFlujo> {
  const [fila] = await db.consultar(COMIENZO_DESDE, { comercio_id, modo, desde })
  return [fila!.xid, NINGUNA_GUIA, 0, desde.getTime()]
}

/**
 * The position after all events that are there now, also those that can't be served yet. With very many transactions under way
 * the latter come after it.
 */
export async function posicionFinal(db: Db, comercio_id: string, modo: Modo): Promise<PosicionDelFlujo> {
  const [fila] = await db.consultar(FINAL, { comercio_id, modo })
  const { xid, visto } = fila!
  return visto && visto.length <= MAX_VISTO ? [xid, NINGUNA_GUIA, 0, 0, visto] : [xid, NINGUNA_GUIA, 0, 0]
}

/** The position after an event that was read from another one: the snapshot is kept as long as it may hide anything. */
export function posicionTras(antes: PosicionDelFlujo, evento: FilaDelFlujo): PosicionDelFlujo {
  const [, , , desde, visto] = antes
  const aqui = [evento.lugar, evento.guia_id, evento.secuencia, desde] as const
  const [, hasta] = visto?.split(':') ?? []
  return visto && hasta && BigInt(evento.lugar) < BigInt(hasta) ? [...aqui, visto] : aqui
}

/** What of the feed is asked for: everything, some types, one guide. */
export interface FiltrosDelFlujo {
  tipos?: readonly TipoDeEvento[]
  guia?: string
}

/** The next events of a merchant and mode, in the feed's order. */
export function leerFlujo(
  db: Db,
  comercio_id: string,
  modo: Modo,
  [xid, guia_id, secuencia, desde, visto]: PosicionDelFlujo,
  { tipos, guia }: FiltrosDelFlujo,
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

/** Why the feed can't be served from this database, in words for whoever runs the service. */
export class ErrorDeFlujo extends Error {
  override readonly name = 'ErrorDeFlujo'
}

const ADELANTADO = sentencia<object, { si: boolean }>(
  'eventos.adelantado',
  'select exists (select from evento where secuencia > 0 and xid >= pg_snapshot_xmax(pg_current_snapshot())) as si',
)

/**
 * Refuses a logical copy (pg_dump, restore), whose events were written by another cluster's transactions, which are still to
 * come in this one: the feed would hide them and skip what is written now.
 * @throws ErrorDeFlujo
 */
export async function exigirFlujoVigente(db: Db): Promise<void> {
  // There the numbers have a count before them, which a copy brings along.
  if (esRepartida(db)) return
  const [fila] = await db.consultar(ADELANTADO)
  if (!fila?.si) return
  throw new ErrorDeFlujo(
    'La base es una copia lógica de otro servidor de PostgreSQL y su contador de transacciones va por detrás de los eventos: el flujo perdería eventos. Detenga ese PostgreSQL, adelante su contador con «pg_resetwal --epoch=N» (N mayor que el del servidor de origen; 1 si nunca se cambió) y vuelva a empezar. Una copia física no lo necesita.',
  )
}
