import { expect, it } from 'vitest'
import { columnsWith, pickColumns } from '../../server/data/columns.ts'
import { LLAVE_FIELDS } from '../../server/domain/identities/llaveFields.ts'
import { CAMPOS } from '../../server/domain/records/guiaFields.ts'
import { WEBHOOK_FIELDS } from '../../server/domain/webhooks/fields.ts'
import { useEnvironment } from '../environment.ts'

const environment = useEnvironment()

it('returns the columns with all wanted properties, in the order of the table', () => {
  const columns = { b: { shown: true, kind: 'x' }, c: { shown: true, kind: 'y' }, a: { shown: true, kind: 'x' }, d: {} }
  expect(columnsWith(columns, { shown: true })).toEqual(['b', 'c', 'a'])
  expect(columnsWith(columns, { shown: true, kind: 'x' })).toEqual(['b', 'a'])
})

it('picks columns of a row', () => {
  expect(pickColumns({ a: 1, b: null, c: 3 }, ['b', 'c'])).toEqual({ b: null, c: 3 })
})

it.each([
  ['webhook', WEBHOOK_FIELDS],
  ['llave', LLAVE_FIELDS],
])('declares every column of %s', async (table, fields) => {
  const { rows } = await environment.db.pool.query(
    `select column_name as nombre from information_schema.columns
     where table_schema = 'public' and table_name = $1 order by 1`,
    [table],
  )
  expect(rows.map(({ nombre }) => nombre)).toEqual(Object.keys(fields).sort())
})

it('declares every column of guia with its type', async () => {
  const { rows } = await environment.db.pool.query(
    `select column_name as nombre, udt_name as tipo from information_schema.columns
     where table_schema = 'public' and table_name = 'guia' order by 1`,
  )
  expect(rows).toEqual(
    Object.entries(CAMPOS)
      .map(([nombre, { tipo }]) => ({ nombre, tipo }))
      .sort((a, b) => (a.nombre < b.nombre ? -1 : 1)),
  )
})
