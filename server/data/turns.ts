import { type Db, inTransaction, statement } from './db.ts'

const TAKE = statement<{ clave: string }>(
  'turns.take',
  'central',
  'select pg_advisory_xact_lock(hashtextextended(:clave, 0))',
)

/**
 * Runs `act` while no other call with the same key runs, in any process. All calls take their lock in the same
 * database, also on Citus, where merchants' rows lie in several databases. A waiting call holds a connection of a small
 * pool of its own, so it never blocks other statements.
 */
export const inTurn = <T>({ pool }: Pick<Db, 'pool'>, key: string, act: () => Promise<T>): Promise<T> =>
  inTransaction({ pool: pool.lockConnections() }, async (query) => {
    await query(TAKE, { clave: key })
    return act()
  })
