import { collectAudit } from '../../data/audit.ts'
import type { Deps } from '../deps.ts'
import { addLink, readChains } from './chain.ts'
import { sealDay } from './seal.ts'

/**
 * Appends the next link to each hash chain of the audit record and the events, and seals past days. Does nothing when
 * there are no new lines.
 * @returns true if another link may be due. The job runner pauses before the next call, because hashing one merchant's
 *   burst competes with the requests of other merchants.
 */
export async function linkChains(deps: Pick<Deps, 'db' | 'clock' | 'log' | 'secretos' | 'settings'>): Promise<boolean> {
  const { db, clock } = deps
  await collectAudit(db)
  let hasMore = false
  for (const chain of await readChains(db, false)) if (await addLink(db, chain, clock())) hasMore = true
  await sealDay(deps)
  return hasMore
}
