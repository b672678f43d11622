import { type Db, enTransaccion } from '../server/db.ts'
import type { DepsDeTrabajo } from '../server/deps.ts'
import { TRABAJOS } from '../server/trabajos.ts'
import { COLA_DE_ARRIENDOS } from '../server/webhooks/arriendos.ts'
import { hallarVencidas } from '../server/webhooks/vencidas.ts'
import type { ClaveDeWebhook } from '../server/webhooks/webhook.ts'
import { hasta } from './fabricas.ts'

/**
 * Waits until no row of pending work is due by that clock and no job is under way, both seen in one snapshot: what happens
 * without anybody's doing has happened then, however slow the machine is.
 * @param comercioId of whose deliveries alone the end is awaited, where others' receivers may hang
 */
export async function esperarQuietud(db: Db, reloj: () => Date, comercioId?: string): Promise<void> {
  const ajeno = (data: object | null | undefined) =>
    comercioId !== undefined && data && 'comercio_id' in data && data.comercio_id !== comercioId
  await hasta(() =>
    enTransaccion(db, async (consultar, cliente) => {
      await cliente.query('set transaction isolation level repeatable read')
      const deps = { db: { consultar }, reloj } as unknown as DepsDeTrabajo
      for (const { pendientes } of TRABAJOS) {
        const trabajos = (await pendientes?.(deps, 1)) ?? []
        if (!trabajos.every(({ data }) => ajeno(data))) return false
      }
      for (let despues: ClaveDeWebhook | undefined, mas = true; mas; mas = despues !== undefined) {
        const { claves, ultimo } = await hallarVencidas({ consultar }, reloj(), despues)
        if (!claves.every(ajeno)) return false
        despues = ultimo
      }
      // A lease is held for a while after its last delivery, and a retry waits for its time.
      const { rows } = await cliente.query<{ data: object | null }>(
        `select data from pgboss.job where name <> $1 and state < 'completed' and start_after <= now()`,
        [COLA_DE_ARRIENDOS],
      )
      return rows.every(({ data }) => ajeno(data))
    }),
  )
}

const ESPERAN = `select count(*)::int as n from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`
const ESPERAN_DONDE_SEA = `select sum(result::int)::int as n from run_command_on_all_nodes($$${ESPERAN}$$)`

/** Waits until a statement of that database waits for somebody's lock, on whatever machine. */
export async function esperarCerrojo(db: Db): Promise<void> {
  await hasta(async () => {
    const { rows } = await db.pool.query<{ n: number }>(db.motor === 'citus' ? ESPERAN_DONDE_SEA : ESPERAN)
    return rows[0]!.n > 0
  })
}
