import type pg from 'pg'
import { Cluster } from './citus/cluster.ts'
import { distribute, type Engine, findEngine, NOT_READ, takeViewsAway } from './citus/distribute.ts'
import type { Placements } from './parts.ts'

export { type Engine, EngineError } from './citus/distribute.ts'

/** What keeps the data. */
export interface Kept {
  engine: Engine
  /** Where merchants' rows lie, if one machine doesn't have them all. */
  partes?: Placements | undefined
}

/** Why a replica isn't read, in words for whoever starts the service; undefined: it may be. */
export const whyNoReplica = ({ engine }: Pick<Kept, 'engine'>): string | undefined =>
  engine === 'citus' ? NOT_READ : undefined

/** Makes room for a migration that what is made of the tables would stand in the way of. */
export async function beforeMigrating(client: pg.Client, sql: string): Promise<void> {
  if (/\b(?:drop\s+(?:column|table)|alter\s+(?:column\s+)?\S+\s+(?:set\s+data\s+)?type|rename)\b/i.test(sql))
    await takeViewsAway(client)
}

/**
 * Finds out what keeps the data, and has it lie where it belongs. Whoever calls it holds the lock of the migrations.
 * @param said what it was said to be
 */
export async function prepareEngine(client: pg.Client, url: string, said: Engine | undefined): Promise<Kept> {
  const engine = await findEngine(client, said)
  if (engine === 'postgres') return { engine }
  await distribute(client)
  return { engine, partes: await Cluster.open(url, true) }
}
