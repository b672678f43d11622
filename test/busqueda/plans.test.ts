import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { STATEMENTS, type Statement } from '../../server/data/db.ts'
import { searchGuias } from '../../server/domain/busqueda/busqueda.ts'
import { EN_POSTGRES } from '../factories.ts'
import { createTestDatabase, dropTestDatabase } from '../postgres.ts'

const BASE = 'planes_de_busqueda'
const url = Object.assign(new URL(inject('postgres')), { pathname: `/${BASE}` }).href
const cliente = new pg.Client({ connectionString: url })
beforeAll(async () => {
  await createTestDatabase(BASE)
  await cliente.connect()
})
afterAll(async () => {
  await cliente.end()
  await dropTestDatabase(BASE)
})

/** The statements that a search of this text runs while nothing is found. */
async function sentenciasDe(texto: string): Promise<Statement[]> {
  const pedidas: Statement[] = []
  const consultar = async (sentencia: Statement, valores: { claves?: readonly string[] }) => {
    pedidas.push(sentencia)
    return (valores.claves ?? []).map((clave) => ({ clave }))
  }
  const db = { query: consultar, pool: {}, shards: () => [{ query: consultar }] }
  await searchGuias(db as never, texto, { ahora: new Date(), limite: 10 })
  return [...new Map(pedidas.map((una) => [una.text, una])).values()]
}

/** The plan of a statement as an operator runs it. */
async function planDe({ text, parameters: parametros }: Statement): Promise<string> {
  await cliente.query(`begin; set local plan_cache_mode = 'force_generic_plan'; set local enable_seqscan = off`)
  await cliente.query('set local role guias_operacion')
  await cliente.query(`prepare esta as ${text}`)
  const { rows } = await cliente.query(`explain (costs off) execute esta(${parametros.map(() => 'null').join(', ')})`)
  await cliente.query('rollback; deallocate esta')
  return rows.map((fila) => fila['QUERY PLAN']).join('\n')
}

it('each statement of a search finds its guides by an index, with all its conditions', EN_POSTGRES, async () => {
  const sentencias = [
    ...(await sentenciasDe('María López Mixco')),
    ...(await sentenciasDe('5921 7733')),
    STATEMENTS.get('busqueda.porCodigo')!,
  ]
  for (const sentencia of sentencias) {
    const plan = await planDe(sentencia)
    expect(plan).not.toContain('Seq Scan')
    expect(plan, plan).toMatch(/Index Cond: .*/)
    const condiciones = sentencia.text.match(/claves @@/g)?.length ?? 0
    if (condiciones > 1) expect(plan.match(/Index Cond: (.*)/)![1]!.match(/@@/g), plan).toHaveLength(condiciones)
  }
})
