import { describe, expect, it } from 'vitest'
import { dynamicStatement, inTransaction, openDb } from '../../server/data/db.ts'
import { compartirEntorno } from '../entorno.ts'

const entorno = compartirEntorno()
const AJUSTES = dynamicStatement<object, { zona: string; plazo: string; papel: string }>(
  `select current_setting('timezone') as zona, current_setting('statement_timeout') as plazo, current_user as papel`,
  false,
)

describe('a session of a pooler', () => {
  it.each([true, false])('is set anew for each statement, with named statements: %s', async (conNombres) => {
    const db = openDb(entorno.databaseUrl, { conexiones: 1, rol: 'guias_trabajos', pooler: { conNombres } })
    try {
      // Another client of the pooler has left it so.
      await db.pool.query(`set timezone = 'America/Guatemala'; set statement_timeout = 0`)
      const suya = db.como('guias_operacion')
      const leidas = [
        await db.consultar(AJUSTES),
        await suya.consultar(AJUSTES),
        await inTransaction(db, (consultar) => consultar(AJUSTES)),
        await inTransaction(suya, (consultar) => consultar(AJUSTES)),
      ]
      expect(leidas.flat()).toEqual(
        ['guias_trabajos', 'guias_operacion', 'guias_trabajos', 'guias_operacion'].map((papel) => ({
          zona: 'UTC',
          plazo: '7s',
          papel,
        })),
      )
    } finally {
      await db.cerrar()
    }
  })
})
