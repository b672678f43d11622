// What a merchant asks of the feed is read from his own events, however many others have: also by a plan that was made for
// nobody in particular, as PostgreSQL makes them for prepared statements.

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { STATEMENTS } from '../../server/data/db.ts'
import '../../server/domain/eventos/stream.ts'
import '../../server/domain/bitacora/chain.ts'
import { EN_POSTGRES, waitUntil } from '../factories.ts'
import { createTestDatabase, dropTestDatabase } from '../postgres.ts'

const BASE = 'vecinos'
const client = new pg.Client({
  connectionString: Object.assign(new URL(inject('postgres')), { pathname: `/${BASE}` }).href,
})

/** Transactions, and events of as many merchants in each. */
const TRANSACTIONS = 2_000
const ROWS_IN_EACH = 20

beforeAll(async () => {
  await createTestDatabase(BASE)
  await client.connect()
  await client.query('set synchronous_commit = off')
  await client.query('set session_replication_role = replica')
  await client.query(`do $$ begin
    for i in 1..${TRANSACTIONS} loop
      insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)
      select lpad((1 + floor(40 * random()))::text, 32, '0')::uuid, 'live', gen_random_uuid(), 1, 'G' || i || '-' || n,
        'guia.aceptado', 'aceptado', '{}', now(), now() from generate_series(1, ${ROWS_IN_EACH}) n;
      commit;
    end loop;
  end $$`)
  // The planner counts the events before the oldest open transaction, and other tests have transactions of their own.
  await waitUntil(async () => {
    const { rows } = await client.query(
      'select pg_snapshot_xmin(pg_current_snapshot()) > max(xid) as pasadas from evento',
    )
    return rows[0].pasadas
  })
  await client.query('analyze evento')
  await client.query('set plan_cache_mode = force_generic_plan')
})
afterAll(async () => {
  await client.end()
  await dropTestDatabase(BASE)
})

interface Nodo {
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: Nodo[]
}
const nodos = (node: Nodo): Nodo[] => [node, ...(node.Plans ?? []).flatMap(nodos)]

let preparedCount = 0
/** The looks at `evento` that a statement's general plan takes among everybody's. */
async function describeAmongAll(name: string): Promise<string[]> {
  const { text, parameters } = STATEMENTS.get(name)!
  const statementName = `p${++preparedCount}`
  await client.query(`prepare ${statementName} as ${text}`)
  const nullArguments = parameters.length > 0 ? `(${parameters.map(() => 'null').join()})` : ''
  const { rows } = await client.query(`explain (format json) execute ${statementName}${nullArguments}`)
  return nodos(rows[0]['QUERY PLAN'][0].Plan)
    .filter((node) => node['Relation Name'] === 'evento' && !node['Index Cond']?.includes('comercio_id'))
    .map((node) => node['Index Name'] ?? 'the whole table')
}

const FEED_STATEMENTS = ['eventos.feed', 'eventos.feedByType', 'eventos.feedOfGuia', 'eventos.startFromTime']

describe('the feed of one among many merchants', EN_POSTGRES, () => {
  it.each(FEED_STATEMENTS)('%s reads his events alone', async (name) => {
    expect(await describeAmongAll(name)).toEqual([])
  })

  it('would be read through everybody’s, were there an index of their order alone', async () => {
    await client.query('create index de_todos on evento (xid)')
    expect(await describeAmongAll('eventos.feed')).toEqual(['de_todos'])
    await client.query('drop index de_todos')
  })

  it('leaves the chain its index', async () => {
    expect(await describeAmongAll('bitacora.nextEvents')).toEqual(['evento_cadena_idx'])
  })
})
