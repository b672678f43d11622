import type { Db } from './db.ts'

// Merchants' rows lie in one database, or on Citus in several databases (parts) on several machines. Work on the rows
// of several merchants runs in each part separately. An unreachable machine then delays only its own merchants.

/** Items whose rows lie in one part of the data, and the database of that part. */
type PartItems<T> = readonly [db: Db, things: readonly T[]]

/**
 * Groups items by the part that has their rows. Returns one group if one machine has all rows, and no group without
 * items.
 */
export async function groupByPart<T>(
  db: Db,
  things: readonly T[],
  merchantOf: (thing: T) => string,
): Promise<readonly PartItems<T>[]> {
  const { placements: parts } = db.pool
  if (!parts) return things.length > 0 ? [[db, things]] : []
  const merchants = [...new Set(things.map(merchantOf))]
  const numbers = new Map<string, number>()
  await Promise.all(merchants.map(async (merchant) => numbers.set(merchant, await parts.number(merchant))))
  const groups = Map.groupBy(things, (thing) => numbers.get(merchantOf(thing))!)
  return [...groups.values()].map((some) => [db.forComercio(merchantOf(some[0]!)), some])
}

/**
 * Runs a query for items of several merchants, in parallel in all their parts. The answers are in no particular order.
 */
export async function queryByPart<T, R>(
  db: Db,
  things: readonly T[],
  merchantOf: (thing: T) => string,
  ask: (db: Db, things: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const groups = await groupByPart(db, things, merchantOf)
  return (await Promise.all(groups.map(([there, some]) => ask(there, some)))).flat()
}

/** Runs {@link queryByPart} for rows that name their merchant in `comercio_id`. */
export const queryByComercio = <T extends { comercio_id: string }, R>(
  db: Db,
  rows: readonly T[],
  ask: (db: Db, rows: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> => queryByPart(db, rows, ({ comercio_id }) => comercio_id, ask)

/** Runs a query in every part, in parallel. Fails if the query fails in one part. */
export const queryAllParts = async <R>(db: Db, ask: (db: Db) => Promise<readonly R[]>): Promise<R[]> =>
  (await Promise.all(db.parts().map(ask))).flat()

/**
 * Runs a query in every part, in parallel. Skips parts that fail; their results come with a later call.
 * @throws the first part's error if every part fails
 */
export async function queryReachableParts<R>(db: Db, ask: (db: Db) => Promise<readonly R[]>): Promise<R[]> {
  const answers = await Promise.allSettled(db.parts().map(ask))
  const failed = answers.find(({ status }) => status === 'rejected')
  if (failed && answers.every(({ status }) => status === 'rejected')) throw (failed as PromiseRejectedResult).reason
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

/**
 * Runs `act` in every part, one after another. A failure in one part does not stop the others, but the call fails at
 * the end.
 * @throws the error of the part that failed; an AggregateError if several parts failed
 */
export async function runInEachPart<R>(db: Db, act: (db: Db) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  const errors: unknown[] = []
  for (const there of db.parts()) {
    try {
      done.push(await act(there))
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, 'some parts failed')
  return done
}

/** Databases of all parts except the part of `own`. */
export function otherParts(db: Db, own: Db): readonly Db[] {
  const { placements: parts } = db.pool
  const { place } = own
  if (!parts || !place) return []
  const number = 'part' in place ? place.part : parts.known(place.merchant)
  return parts
    .parts()
    .filter((part) => part.number !== number)
    .map((part) => db.inPart(part.number))
}

/**
 * Key of the merchants whose requests may share a group: the number of their part, or the merchant's id while the part
 * is unknown. If one machine has all rows, all merchants share one key.
 */
export const partKeyOf = ({ pool }: Pick<Db, 'pool'>, merchant: string): string =>
  pool.placements ? String(pool.placements.known(merchant) ?? merchant) : ''

/**
 * First character of the codes of guides that are created in the part of `place`; undefined if any character may be the
 * first.
 */
export async function codeLetterOf({ pool, place }: Db): Promise<string | undefined> {
  return pool.placements && place ? (await pool.placements.find(place)).letter : undefined
}
