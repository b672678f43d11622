// A process that runs on while a migration is applied: what it has prepared is of before.

import { expect, it } from 'vitest'
import { dynamicStatement, inTransaction, openDb } from '../../server/data/db.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

const environment = useEnvironment()

it('a column that comes later breaks none of the statements that are prepared', async () => {
  const { api } = await environment.createComercio()
  /** On every connection of the process. */
  const doWork = () =>
    Promise.all(
      Array.from({ length: 12 }, async () => {
        const { guia } = await api.guias.crear(buildGuia())
        for (const estado of ['recolectado', 'en_ruta'] as const) await api.simulador.avanzar(guia, { estado })
        return (await api.guias.obtener(guia)).eventos.datos.length
      }),
    )
  const before = await doWork()
  await environment.db.pool.query(
    ['guia', 'evento', 'comercio', 'llave', 'archivo', 'prueba_entrega', 'webhook', 'bitacora']
      .map((table) => `alter table ${table} add column llego_despues text`)
      .join('; '),
  )
  expect(await doWork()).toEqual(before)
})

it('a transaction whose statement was prepared before a new column begins again, once', async () => {
  const db = openDb(environment.databaseUrl, { connections: 1 })
  const ALL = dynamicStatement<object, { llego_luego?: unknown }>('central', 'select * from operador limit 1', true)
  let times = 0
  const read = () =>
    inTransaction(db, (query) => {
      times++
      return query(ALL)
    })
  try {
    await read()
    await db.pool.query('alter table operador add column llego_luego text')
    const [row] = await read()
    expect([Object.keys(row!).includes('llego_luego'), times]).toEqual([true, 3])
  } finally {
    await db.close()
  }
})
