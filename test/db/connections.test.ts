import { describe, expect, it } from 'vitest'
import { Connections } from '../../server/data/connections.ts'
import { dynamicStatement, inTransaction, openDb } from '../../server/data/db.ts'
import { shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()
const SETTINGS = dynamicStatement<object, { zona: string; timeout: string; role: string }>(
  'central',
  `select current_setting('timezone') as zona, current_setting('statement_timeout') as timeout, current_user as role`,
  false,
)

it('a pool that has ended has no session left on the server', async () => {
  for (let round = 0; round < 20; round++) {
    const name = `ended ${round}`
    const pool = new Connections(environment.databaseUrl, 4, name)
    await Promise.all(Array.from({ length: 4 }, () => pool.query('select pg_sleep(0.01)')))
    await pool.end()
    const { rows } = await environment.db.pool.query('select from pg_stat_activity where application_name = $1', [name])
    expect(rows).toEqual([])
  }
})

describe('a session of a pooler', () => {
  it.each([true, false])('is set anew for each statement, with named statements: %s', async (withNames) => {
    const db = openDb(environment.databaseUrl, {
      connections: 1,
      role: 'guias_trabajos',
      pooler: { supportsNames: withNames },
    })
    try {
      // Another client of the pooler has left it so.
      await db.pool.query(`set timezone = 'America/Guatemala'; set statement_timeout = 0`)
      const operatorDb = db.asRole('guias_operacion')
      const settings = [
        await db.query(SETTINGS),
        await operatorDb.query(SETTINGS),
        await inTransaction(db, (query) => query(SETTINGS)),
        await inTransaction(operatorDb, (query) => query(SETTINGS)),
      ]
      expect(settings.flat()).toEqual(
        ['guias_trabajos', 'guias_operacion', 'guias_trabajos', 'guias_operacion'].map((role) => ({
          zona: 'UTC',
          timeout: '7s',
          role,
        })),
      )
    } finally {
      await db.close()
    }
  })
})
