import type pg from 'pg'
import { Cluster } from './citus/cluster.ts'
import { distribute, dropPartViews, type Engine, findEngine, REPLICA_UNSUPPORTED } from './citus/distribute.ts'
import type { Placements } from './parts.ts'

/** Database engine. On Citus, also the parts: the databases over which merchants' rows are distributed. */
export interface PreparedEngine {
  engine: Engine
  /** Parts of merchants' rows; undefined if one machine has all rows. */
  shards?: Placements | undefined
}

/** Reason why a replica may not be read, in Spanish for the operator; undefined if it may be read. */
export const whyNoReplica = ({ engine }: Pick<PreparedEngine, 'engine'>): string | undefined =>
  engine === 'citus' ? REPLICA_UNSUPPORTED : undefined

/**
 * Drops the views of the parts (Citus) before a migration that drops columns or tables, changes types, or renames.
 * PostgreSQL would refuse the migration because of the views.
 */
export async function beforeMigrating(client: pg.Client, sql: string): Promise<void> {
  if (/\b(?:drop\s+(?:column|table)|alter\s+(?:column\s+)?\S+\s+(?:set\s+data\s+)?type|rename)\b/i.test(sql))
    await dropPartViews(client)
}

/**
 * Finds the database's engine. On Citus, also distributes the tables and prepares the parts. The caller holds the lock
 * of the migrations.
 * @param configured engine named by the configuration
 */
export async function prepareEngine(
  client: pg.Client,
  url: string,
  configured: Engine | undefined,
): Promise<PreparedEngine> {
  const engine = await findEngine(client, configured)
  if (engine === 'postgres') return { engine }
  await distribute(client)
  return { engine, shards: await Cluster.open(url, true) }
}
