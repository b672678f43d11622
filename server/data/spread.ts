import { type Db, esRepartida } from '../db.ts'

// Merchants' rows lie in one place, or in parts on several machines. What is about rows of several merchants is done in each
// part by itself: a machine that is away keeps nobody waiting but its own merchants.

/** Things that are about rows in one place, and the database there. */
type There<T> = readonly [db: Db, things: readonly T[]]

/** Things by where the rows are that they are about: all of them together, unless rows lie in parts. */
export async function byPart<T>(
  db: Db,
  things: readonly T[],
  merchantOf: (thing: T) => string,
): Promise<readonly There<T>[]> {
  const { partes } = db.pool
  if (!partes) return things.length > 0 ? [[db, things]] : []
  const merchants = [...new Set(things.map(merchantOf))]
  const numbers = new Map<string, number>()
  await Promise.all(merchants.map(async (merchant) => numbers.set(merchant, await partes.number(merchant))))
  const groups = Map.groupBy(things, (thing) => numbers.get(merchantOf(thing))!)
  return [...groups.values()].map((some) => [db.de(merchantOf(some[0]!)), some])
}

/** Asks about things of several merchants, side by side where they lie; the answers are in no order. */
export async function askByPart<T, R>(
  db: Db,
  things: readonly T[],
  merchantOf: (thing: T) => string,
  ask: (db: Db, things: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const groups = await byPart(db, things, merchantOf)
  return (await Promise.all(groups.map(([there, some]) => ask(there, some)))).flat()
}

/** {@link askByPart} of rows that say whose they are. */
export const askByMerchant = <T extends { comercio_id: string }, R>(
  db: Db,
  rows: readonly T[],
  ask: (db: Db, rows: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> => askByPart(db, rows, ({ comercio_id }) => comercio_id, ask)

/** Asks every part, side by side; fails if one of them does. */
export const askAll = async <R>(db: Db, ask: (db: Db) => Promise<readonly R[]>): Promise<R[]> =>
  (await Promise.all(db.partes().map(ask))).flat()

/**
 * Asks every part, side by side, for what can be done without the others: what parts that are away would have answered comes
 * the next time. It fails if all do.
 */
export async function askThoseThere<R>(db: Db, ask: (db: Db) => Promise<readonly R[]>): Promise<R[]> {
  const answers = await Promise.allSettled(db.partes().map(ask))
  const failed = answers.find(({ status }) => status === 'rejected')
  if (failed && answers.every(({ status }) => status === 'rejected')) throw (failed as PromiseRejectedResult).reason
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

/** Does something in every part, one after another; what fails in one keeps no other from it, and fails all at the end. */
export async function inEach<R>(db: Db, act: (db: Db) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  const errors: unknown[] = []
  for (const there of db.partes()) {
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

/** The parts other than the one that a database is asked about. */
export function otherParts(db: Db, own: Db): readonly Db[] {
  const { partes } = db.pool
  const { lugar } = own
  if (!partes || !lugar) return []
  const number = 'part' in lugar ? lugar.part : partes.known(lugar.merchant)
  return partes
    .parts()
    .filter((part) => part.number !== number)
    .map((part) => db.enParte(part.number))
}

/** What groups may be made of: merchants whose rows lie together, as far as that is known. */
export const groupOf = ({ pool }: Pick<Db, 'pool'>, merchant: string): string =>
  pool.partes ? String(pool.partes.known(merchant) ?? merchant) : ''

/** The first character of the codes of guides that are created there; undefined: any. */
export async function letterOf({ pool, lugar }: Db): Promise<string | undefined> {
  return pool.partes && lugar ? (await pool.partes.find(lugar)).letter : undefined
}

export { esRepartida }
