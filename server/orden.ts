import { type Db, sentencia } from './db.ts'
import { enSuMaquina } from './motor.ts'

/**
 * The feed's order (the one place that knows xid8). Rows become visible in the order in which their transactions commit, not
 * in the order of any number in them: a reader who goes by time or by a sequence skips what commits late. So on PostgreSQL
 * events are ordered by their writing transaction and served only below the oldest one still under way
 * (`pg_snapshot_xmin`): nothing can appear there any more. A long transaction anywhere in the server holds the feed back
 * until it ends; it never loses an event.
 *
 * On Citus that isn't so: a transaction of several machines is over on the coordinator, and its number below that boundary,
 * before the last machine has made it visible, and machines have numbers of their own, which a moved shard takes nowhere. There
 * each merchant's events have numbers of the merchant's own: who writes some takes the next of them from his row in
 * `flujo`, and holds that row until his events are visible where they lie, through a prepared commit, too. So whoever sees
 * a number sees all before it, and the order moves with the rows. It costs that one merchant's writers commit one by one.
 */
export const hastaAqui = (citus: boolean) => (citus ? 'true' : 'xid < pg_snapshot_xmin(pg_current_snapshot())')

/** SQL that gives a statement's events their place in that order: a CTE ahead, a column, its value, and whence. */
export const lugarEnFlujo = (citus: boolean, g: string) =>
  citus
    ? {
        antes: `t as (
     update flujo set numero = numero + 1 where comercio_id = :comercio_id and modo in (select modo from ${g})
     returning comercio_id, modo, numero::text::xid8 as xid
   ), `,
        columna: ', xid',
        valor: ', t.xid',
        de: enSuMaquina(true, `(${g} join t using (comercio_id, modo))`),
      }
    : { antes: '', columna: '', valor: '', de: g }

const ABRIR = sentencia<{ comercio_id: string }>(
  'flujo.abrir',
  `insert into flujo (comercio_id, modo, numero) values (:comercio_id, 'live', 0), (:comercio_id, 'test', 0)
   on conflict (comercio_id, modo) do nothing`,
)

/** On Citus: a merchant's rows in `flujo`, beside which whatever is his is written. */
export async function abrirFlujo({ consultar, motor }: Pick<Db, 'consultar' | 'motor'>, comercio_id: string) {
  if (motor === 'citus') await consultar(ABRIR, { comercio_id })
}
