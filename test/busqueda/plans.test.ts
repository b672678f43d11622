import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { STATEMENTS, type Statement } from '../../server/data/db.ts'
import { searchGuias } from '../../server/domain/busqueda/busqueda.ts'
import { EN_POSTGRES } from '../factories.ts'
import { createTestDatabase, dropTestDatabase } from '../postgres.ts'

const BASE = 'planes_de_busqueda'
const url = Object.assign(new URL(inject('postgres')), { pathname: `/${BASE}` }).href
const client = new pg.Client({ connectionString: url })
beforeAll(async () => {
  await createTestDatabase(BASE)
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await dropTestDatabase(BASE)
})

/** The statements that a search of this text runs while nothing is found. */
async function statementsOf(text: string): Promise<Statement[]> {
  const sentRequests: Statement[] = []
  const query = async (sql: Statement, values: { claves?: readonly string[] }) => {
    sentRequests.push(sql)
    return (values.claves ?? []).map((key) => ({ clave: key }))
  }
  const db = { query, pool: {}, parts: () => [{ query }] }
  await searchGuias(db as never, text, { now: new Date(), limite: 10 })
  return [...new Map(sentRequests.map((one) => [one.text, one])).values()]
}

/** The plan of a statement as an operator runs it. */
async function planOf({ text, parameters }: Statement): Promise<string> {
  await client.query(`begin; set local plan_cache_mode = 'force_generic_plan'; set local enable_seqscan = off`)
  await client.query('set local role guias_operacion')
  await client.query(`prepare esta as ${text}`)
  const { rows } = await client.query(`explain (costs off) execute esta(${parameters.map(() => 'null').join(', ')})`)
  await client.query('rollback; deallocate esta')
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

it('each statement of a search finds its guides by an index, with all its conditions', EN_POSTGRES, async () => {
  const statements = [
    ...(await statementsOf('María López Mixco')),
    ...(await statementsOf('5921 7733')),
    ...(await statementsOf('5921 7')),
    STATEMENTS.get('busqueda.byCode')!,
  ]
  for (const sql of statements) {
    const plan = await planOf(sql)
    expect(plan).not.toContain('Seq Scan')
    expect(plan, plan).toMatch(/Index Cond: .*/)
    const conditions = sql.text.match(/claves @@/g)?.length ?? 0
    if (conditions > 1) expect(plan.match(/Index Cond: (.*)/)![1]!.match(/@@/g), plan).toHaveLength(conditions)
  }
})
