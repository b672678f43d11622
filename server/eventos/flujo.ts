import type { Modo } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import { COLUMNAS_DE_EVENTO, type EventoLeido, type FilaEvento } from './evento.ts'

/**
 * The feed's order, PostgreSQL's alone (the one place that knows xid8). Rows become visible in the order in which their
 * transactions commit, not in the order of any number in them: a reader who goes by time or by a sequence skips what
 * commits late. So events are ordered by their writing transaction and served only below the oldest transaction still
 * under way (`pg_snapshot_xmin`): nothing can appear there any more.
 *
 * A long transaction anywhere in the cluster holds the feed back until it ends; it never loses an event.
 */
const FLUJO = sentencia<
  { comercio_id: string; modo: Modo; xid: string; guia_id: string; secuencia: number; cuantos: number },
  EventoLeido & Pick<FilaEvento, 'guia_id'> & { xid: string }
>(
  'eventos.flujo',
  `select ${COLUMNAS_DE_EVENTO}, guia_id, xid::text as xid from evento
   where comercio_id = :comercio_id and modo = :modo and xid < pg_snapshot_xmin(pg_current_snapshot())
     and (xid, guia_id, secuencia) > (:xid::text::xid8, :guia_id::uuid, :secuencia::int)
   order by evento.xid, guia_id, secuencia limit :cuantos`,
)

/** The event after which the feed goes on. */
export type PosicionDelFlujo = readonly [xid: string, guiaId: string, secuencia: number]

/** The position before the first event of all. */
export const COMIENZO: PosicionDelFlujo = ['0', '00000000-0000-0000-0000-000000000000', 0]

/** The next events of a merchant and mode, in the feed's order. */
export function leerFlujo(db: Db, comercio_id: string, modo: Modo, despues: PosicionDelFlujo, cuantos: number) {
  const [xid, guia_id, secuencia] = despues
  return db.consultar(FLUJO, { comercio_id, modo, xid, guia_id, secuencia, cuantos })
}

/** Why the feed can't be served from this database, in words for whoever runs the service. */
export class ErrorDeFlujo extends Error {
  override readonly name = 'ErrorDeFlujo'
}

const ADELANTADO = sentencia<object, { si: boolean }>(
  'eventos.adelantado',
  'select exists (select from evento where xid >= pg_snapshot_xmax(pg_current_snapshot())) as si',
)

/**
 * Refuses a logical copy (pg_dump, restore), whose events were written by another cluster's transactions, which are still to
 * come in this one: the feed would hide them and skip what is written now.
 * @throws ErrorDeFlujo
 */
export async function exigirFlujoVigente(db: Db): Promise<void> {
  const [fila] = await db.consultar(ADELANTADO)
  if (!fila?.si) return
  throw new ErrorDeFlujo(
    'La base es una copia lógica de otro servidor de PostgreSQL y su contador de transacciones va por detrás de los eventos: el flujo perdería eventos. Detenga ese PostgreSQL, adelante su contador con «pg_resetwal --epoch=N» (N mayor que el del servidor de origen; 1 si nunca se cambió) y vuelva a empezar. Una copia física no lo necesita.',
  )
}
