import type { Modo, TipoDeEvento } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import { enCadaMotor } from '../motor.ts'
import { hastaAqui } from '../orden.ts'
import { COLUMNAS_DE_EVENTO, type EventoLeido, type FilaEvento } from './evento.ts'

/** The condition, as SQL, that an event comes after the position, where it can be served, and not from before `desde`. */
const sigue = (
  citus: boolean,
) => `${hastaAqui(citus)} and (xid, guia_id, secuencia) > (:xid::text::xid8, :guia_id::uuid, :secuencia::int)
  and registrado_en >= :desde::timestamptz`

/** The number has another name as a text, or Citus would put the texts in order. */
const COLUMNAS = `${COLUMNAS_DE_EVENTO}, guia_id, xid::text as lugar`

type Parametros = {
  comercio_id: string
  modo: Modo
  xid: string
  guia_id: string
  secuencia: number
  desde: Date
  cuantos: number
}
type FilaDelFlujo = EventoLeido & Pick<FilaEvento, 'guia_id'> & { lugar: string }

const FLUJO = sentencia<Parametros, FilaDelFlujo>(
  'eventos.flujo',
  enCadaMotor(
    (citus) => `select ${COLUMNAS} from evento where comercio_id = :comercio_id and modo = :modo and ${sigue(citus)}
   order by evento.xid, guia_id, secuencia limit :cuantos`,
  ),
)

/** Each type is read from its own range of the index, and the ranges are merged: a rare one costs what a frequent one does. */
const DE_TIPOS = sentencia<Parametros & { tipos: readonly TipoDeEvento[] }, FilaDelFlujo>(
  'eventos.flujoDeTipos',
  enCadaMotor(
    (citus) => `select ${COLUMNAS} from unnest(:tipos::text[]) t(suyo) cross join lateral (
     select * from evento where comercio_id = :comercio_id and modo = :modo and tipo = t.suyo and ${sigue(citus)}
     order by evento.xid, guia_id, secuencia limit :cuantos) e
   order by e.xid, guia_id, secuencia limit :cuantos`,
  ),
)

/** A guide's few events are read whole before they are put in order, or the planner would look for them in everybody's. */
const DE_GUIA = sentencia<Parametros & { guia: string; tipos: readonly TipoDeEvento[] | null }, FilaDelFlujo>(
  'eventos.flujoDeGuia',
  enCadaMotor(
    (citus) => `with e as materialized (
     select * from evento where comercio_id = :comercio_id and modo = :modo
       and guia_id = (select id from guia_indice where guia = :guia and comercio_id = :comercio_id and modo = :modo))
   select ${COLUMNAS} from e where ${sigue(citus)} and (:tipos::text[] is null or tipo = any(:tipos))
   order by e.xid, guia_id, secuencia limit :cuantos`,
  ),
)

/** The first number that no event of the merchant has yet. */
const FIN_DE_CITUS = `(select coalesce((select (numero + 1)::text::xid8 from flujo
       where comercio_id = :comercio_id and modo = :modo), '1'::xid8) as fin)`

/**
 * The transaction where events registered at an instant or later begin, found by halving, in some forty looks at the feed's
 * index however long the feed is; null is after the last one that can be served. Transactions follow the clock but for the
 * time they take and the difference of two processes' clocks, for which it begins a minute early: `registrado_en` decides
 * from there on.
 */
const COMIENZO_DESDE = sentencia<{ comercio_id: string; modo: Modo; desde: Date | null }, { xid: string }>(
  'eventos.comienzoDesde',
  enCadaMotor(
    (citus) => `with recursive b(antes, despues) as (
     select coalesce((select xid from evento where comercio_id = :comercio_id and modo = :modo
         order by evento.xid, guia_id, secuencia limit 1), fin)::text::int8 - 1, fin::text::int8
     from ${citus ? FIN_DE_CITUS : 'pg_snapshot_xmin(pg_current_snapshot())'} fin
     union all
     select case when p.anterior then m.medio else antes end, case when p.anterior then despues else m.medio end
     from b, lateral (select (antes + despues) / 2 as medio) m, lateral (select coalesce((
         select registrado_en < coalesce(:desde::timestamptz - interval '1 minute', 'infinity') from evento
         where comercio_id = :comercio_id and modo = :modo and xid >= m.medio::text::xid8 and ${hastaAqui(citus)}
         order by evento.xid, guia_id, secuencia limit 1), false) as anterior) p
     where despues - antes > 1
   )
   select despues::text as xid from b order by despues - antes limit 1`,
  ),
)

/** Where the feed goes on: after an event, with those that were registered since an instant (in milliseconds). */
export type PosicionDelFlujo = readonly [xid: string, guiaId: string, secuencia: number, desde: number]

const NINGUNA_GUIA = '00000000-0000-0000-0000-000000000000'

/** The position before the first event of all. */
export const COMIENZO: PosicionDelFlujo = ['0', NINGUNA_GUIA, 0, 0]

/** The position before the first event that is registered at an instant or later; undefined is now. */
export async function posicionDesde(
  db: Db,
  comercio_id: string,
  modo: Modo,
  desde: Date | undefined,
): Promise<PosicionDelFlujo> {
  const [fila] = await db.consultar(COMIENZO_DESDE, { comercio_id, modo, desde: desde ?? null })
  return [fila!.xid, NINGUNA_GUIA, 0, desde?.getTime() ?? 0]
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
  [xid, guia_id, secuencia, desde]: PosicionDelFlujo,
  { tipos, guia }: FiltrosDelFlujo,
  cuantos: number,
): Promise<FilaDelFlujo[]> {
  const parametros = { comercio_id, modo, xid, guia_id, secuencia, desde: new Date(desde), cuantos }
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
  // There the order is the rows' own, wherever they are copied.
  if (db.motor === 'citus') return
  const [fila] = await db.consultar(ADELANTADO)
  if (!fila?.si) return
  throw new ErrorDeFlujo(
    'La base es una copia lógica de otro servidor de PostgreSQL y su contador de transacciones va por detrás de los eventos: el flujo perdería eventos. Detenga ese PostgreSQL, adelante su contador con «pg_resetwal --epoch=N» (N mayor que el del servidor de origen; 1 si nunca se cambió) y vuelva a empezar. Una copia física no lo necesita.',
  )
}
