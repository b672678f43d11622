import { type Db, inTransaction, statement } from './db.ts'

const TAKE = statement<{ clave: string }>('turns.take', 'select pg_advisory_xact_lock(hashtextextended(:clave, 0))')

/**
 * Runs `act` while no other call with the same key runs, in any process. The key's lock does not depend on the part
 * where the rows lie. A waiting call holds one of a few connections that are separate from the work's own.
 */
export const inTurn = <T>({ pool }: Pick<Db, 'pool'>, key: string, act: () => Promise<T>): Promise<T> =>
  inTransaction({ pool: pool.turns() }, async (consultar) => {
    await consultar(TAKE, { clave: key })
    return act()
  })
