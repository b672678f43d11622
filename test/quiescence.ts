import type pg from 'pg'
import { type Db, inTransaction, isDistributed } from '../server/data/db.ts'
import type { JobDeps } from '../server/domain/deps.ts'
import type { WebhookKey } from '../server/domain/records/webhookKey.ts'
import { findDue } from '../server/domain/webhooks/sending/due.ts'
import { JOBS } from '../server/startup/jobs.ts'
import { waitUntil } from './factories.ts'

/**
 * Waits until no row of pending work is due by that clock and no job is under way: what happens without anybody's doing has
 * happened then, however slow the machine is. Both are seen in one snapshot; where there is none, of several machines, rows
 * are looked at before and after the jobs, which are what makes more of them.
 * @param comercioId of whose deliveries alone the end is awaited, where others' receivers may hang
 */
export async function waitForQuiet(db: Db, clock: () => Date, comercioId?: string): Promise<void> {
  const isForeign = (data: object | null | undefined) =>
    comercioId !== undefined && data && 'comercio_id' in data && data.comercio_id !== comercioId
  /** Reports whether no row is due. */
  const hasNoDueRows = async (db: Db): Promise<boolean> => {
    const deps = { db, clock } as unknown as JobDeps
    for (const { pendientes } of JOBS) {
      const jobs = (await pendientes?.(deps, 1)) ?? []
      if (!jobs.every(({ data }) => isForeign(data))) return false
    }
    for (const part of db.parts())
      for (let after: WebhookKey | undefined, hasMore = true; hasMore; hasMore = after !== undefined) {
        const { claves: keys, ultimo } = await findDue(part, clock(), after)
        if (!keys.every(isForeign)) return false
        after = ultimo
      }
    return true
  }
  /** Reports whether no job is under way. A retry waits for its time. */
  const hasNoJobs = async (client: Pick<pg.PoolClient, 'query'>): Promise<boolean> => {
    const { rows } = await client.query<{ data: object | null }>(
      `select data from pgboss.job where state < 'completed' and start_after <= now()`,
    )
    return rows.every(({ data }) => isForeign(data))
  }
  if (isDistributed(db)) {
    await waitUntil(async () => (await hasNoDueRows(db)) && (await hasNoJobs(db.pool)) && (await hasNoDueRows(db)))
    return
  }
  await waitUntil(() =>
    inTransaction(db, async (query, client) => {
      await client.query('set transaction isolation level repeatable read')
      const transactionDb: Db = { pool: db.pool, query, parts: () => [transactionDb] } as unknown as Db
      return (await hasNoDueRows(transactionDb)) && hasNoJobs(client)
    }),
  )
}

const LOCK_WAITS_SQL = `select count(*)::int as n from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`
const ALL_NODES_LOCK_WAITS_SQL = `select sum(result::int)::int as n from run_command_on_all_nodes($$${LOCK_WAITS_SQL}$$)`

/** Waits until a statement of that database waits for somebody's lock, on whatever machine. */
export async function waitForLock(db: Db): Promise<void> {
  await waitUntil(async () => {
    const { rows } = await db.pool.query<{ n: number }>(isDistributed(db) ? ALL_NODES_LOCK_WAITS_SQL : LOCK_WAITS_SQL)
    return rows[0]!.n > 0
  })
}
