import { type Db, enTransaccion } from '../server/db.ts'
import type { DepsDeTrabajo } from '../server/deps.ts'
import { TRABAJOS } from '../server/trabajos.ts'
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
      const deps = { db: { consultar }, reloj, ronda: {} } as unknown as DepsDeTrabajo
      for (const { pendientes } of TRABAJOS) {
        for (let hayMas = true; hayMas; ) {
          const hallados = await pendientes(deps, 1)
          const trabajos = Array.isArray(hallados) ? hallados : hallados.trabajos
          if (!trabajos.every(({ data }) => ajeno(data))) return false
          hayMas = 'hayMas' in hallados && hallados.hayMas
        }
      }
      const { rows } = await cliente.query<{ data: object | null }>(
        `select data from pgboss.job where state < 'completed'`,
      )
      return rows.every(({ data }) => ajeno(data))
    }),
  )
}

/** Waits until a statement of that database waits for somebody's lock. */
export async function esperarCerrojo(db: Db): Promise<void> {
  await hasta(async () => {
    const { rowCount } = await db.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rowCount! > 0
  })
}
