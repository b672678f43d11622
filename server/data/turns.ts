import { type Db, enTransaccion, sentencia } from '../db.ts'

const TAKE = sentencia<{ clave: string }>('turns.take', 'select pg_advisory_xact_lock(hashtextextended(:clave, 0))')

/**
 * Does something while nobody else does what has the same key, wherever the rows lie that it is about. Who waits holds a
 * connection of few, apart from those that the work needs.
 */
export const inTurn = <T>({ pool }: Pick<Db, 'pool'>, key: string, act: () => Promise<T>): Promise<T> =>
  enTransaccion({ pool: pool.turnos() }, async (consultar) => {
    await consultar(TAKE, { clave: key })
    return act()
  })
