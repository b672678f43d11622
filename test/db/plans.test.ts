import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Db, type DbOptions, openDb, STATEMENTS, type Statement } from '../../server/data/db.ts'
import { FEED_START, readFeed } from '../../server/domain/eventos/stream.ts'
import { findGuiaPage, type GuiaFilters } from '../../server/domain/guias/list.ts'
import { listarAvisosDeWebhook } from '../../server/domain/webhooks/listarAvisos.ts'
import { EN_POSTGRES } from '../factories.ts'
import { createTestDatabase, dropTestDatabase } from '../postgres.ts'

const BASE = 'planes'
const url = Object.assign(new URL(inject('postgres')), { pathname: `/${BASE}` }).href
const COMERCIO = '01990000-0000-7000-8000-000000000001'
const WEBHOOK = 'wh_000000000001'

const client = new pg.Client({ connectionString: url, options: '-c enable_seqscan=off -c jit=off' })
const openDbs: Db[] = []
const open = (options: DbOptions = {}) => {
  const db = openDb(url, { ...options, connections: 1 })
  openDbs.push(db)
  return db
}

beforeAll(async () => {
  await createTestDatabase(BASE)
  await client.connect()
})
afterAll(async () => {
  await Promise.all(openDbs.map((db) => db.close()))
  await client.end()
  await dropTestDatabase(BASE)
})

/** Plans of a connection's prepared statement: kept ones, and ones made anew. */
async function plansOf({ pool }: Db, name: string) {
  const { rows } = await pool.query<{ generic_plans: string; custom_plans: string }>(
    'select generic_plans, custom_plans from pg_prepared_statements where name = $1',
    [name],
  )
  return rows.map(({ generic_plans, custom_plans }) => [Number(generic_plans), Number(custom_plans)])
}

const read = (db: Db) => readFeed(db.asRole('guias_api', [COMERCIO]), COMERCIO, 'live', FEED_START, {}, 50)

describe('a statement with a generic plan', EN_POSTGRES, () => {
  const pooler = { supportsNames: true }
  it.each([['sessions of its own', {}] as const, ['a pooler that knows names', { pooler }] as const])(
    'is never planned anew, and leaves its session as it was: %s',
    async (_de, options) => {
      const db = open(options)
      for (let i = 0; i < 8; i++) await read(db)
      expect(await plansOf(db, 'guias_api.eventos.feed')).toEqual([[8, 0]])
      expect((await db.pool.query('show plan_cache_mode')).rows).toEqual([{ plan_cache_mode: 'auto' }])
    },
  )

  it('runs where a pooler knows no names', async () => {
    expect(await read(open({ pooler: { supportsNames: false } }))).toEqual([])
  })
})

interface Nodo {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Rows Removed by Filter'?: number
  Plans?: Nodo[]
}
const nodesOf = (node: Nodo): Nodo[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** The statement of an endpoint's deliveries with those filters. It isn't run. */
async function ofAvisos(query: object): Promise<Statement> {
  const sentRequests: Statement[] = []
  const consultar = async (sql: Statement) => {
    sentRequests.push(sql)
    throw new Error('not run')
  }
  const list = listarAvisosDeWebhook(
    { path: { webhook: WEBHOOK }, query, identity: { comercioId: COMERCIO, modo: 'live' } } as never,
    { db: { query: consultar }, cursors: { decrypt: () => [0, COMERCIO, 1] } } as never,
  )
  await expect(list).rejects.toThrow('not run')
  return sentRequests[0]!
}

/** The statement of a list of guides, with its values. The statement isn't run. */
async function planOfGuias(filters: GuiaFilters) {
  const sentRequests: { statement: Statement; values: Record<string, unknown> }[] = []
  const query = async (statement: Statement, values: Record<string, unknown>) => {
    sentRequests.push({ statement, values })
    return [{ id: null, hasta: null }]
  }
  await findGuiaPage(
    { db: { query }, cursors: {} } as never,
    { operacion: '', dueno: '' },
    filters,
    (one) => one,
  ).catch(() => {})
  return sentRequests[0]!
}

/** Indexes of guides that a list reads, and the rows that it reads and drops. */
async function readingOf(filters: GuiaFilters) {
  const { statement, values } = await planOfGuias(filters)
  const dbRole = filters.comercioId ? 'guias_api' : 'guias_operacion'
  await client.query(
    `begin; set local plan_cache_mode = 'force_custom_plan'; set local role ${dbRole}; set local enable_sort = off`,
  )
  await client.query(`set local guias.comercios = '{${filters.comercioId ?? ''}}'`)
  await client.query(`prepare lista as ${statement.text}`)
  const datos = statement.parameters.map((name) => client.escapeLiteral(String(values[name])))
  const list = datos.length > 0 ? `(${datos.join(', ')})` : ''
  const { rows } = await client.query(`explain (analyze, timing off, format json) execute lista${list}`)
  await client.query('rollback; deallocate lista')
  const nodos = nodesOf(rows[0]['QUERY PLAN'][0].Plan).filter((node) => node['Relation Name'] === 'guia')
  return {
    indices: [...new Set(nodos.map((node) => node['Index Name'] ?? node['Node Type']))],
    quitadas: nodos.reduce((sum, node) => sum + (node['Rows Removed by Filter'] ?? 0), 0),
  }
}

/** Index scans of a big table in the plan that is kept of a statement, and how often the plan puts rows in order itself. */
async function planOf({ text, parameters }: Statement) {
  await client.query("begin; set local plan_cache_mode = 'force_generic_plan'; set local role guias_api")
  await client.query(`set local guias.comercios = '{${COMERCIO}}'`)
  await client.query(`prepare lista as ${text}`)
  const nulos = parameters.map(() => 'null').join(', ')
  const { rows } = await client.query(`explain (format json) execute lista(${nulos})`)
  await client.query('rollback; deallocate lista')
  const nodos = nodesOf(rows[0]['QUERY PLAN'][0].Plan)
  const grandes = nodos.filter(({ 'Relation Name': table = '' }) => ['evento', 'webhook_aviso'].includes(table))
  return {
    indices: grandes.map((node) => `${node['Node Type']}: ${node['Index Name']}`),
    ordena: nodos.filter((node) => node['Node Type'].includes('Sort')).length,
  }
}

/** One merchant and endpoint with nearly everything, beside 200 with little. */
const FILL_SQL = `
  set session_replication_role = replica;
  insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)
  select ('01990000-0000-7000-8000-' || lpad(to_hex(c), 12, '0'))::uuid, 'live', gen_random_uuid(), 1, 'G' || c || '_' || n,
    case n % 10 when 0 then 'guia.nota' else 'guia.aceptado' end, 'aceptado', '{}', now(), now()
  from generate_series(1, 201) c, generate_series(1, case c when 1 then 20000 else 20 end) n;
  insert into webhook_aviso (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en,
    creado_en)
  select comercio_id, modo, 'wh_' || lpad(ltrim(right(comercio_id::text, 12), '0'), 12, '0'), guia_id, secuencia,
    'evt_' || guia || '_1', tipo, case tipo when 'guia.nota' then 'fallido' else 'entregado' end, 'automatica', now(),
    now() - random() * interval '30 days' from evento;
  set session_replication_role = origin`

const FEED = 'Index Scan: evento_comercio_id_modo_xid_guia_id_secuencia_idx'
const FEED_DE_TIPOS = 'Index Scan: evento_comercio_id_modo_tipo_xid_guia_id_secuencia_idx'
const ENTREGAS = 'Index Scan: webhook_aviso_comercio_id_modo_webhook_creado_en_guia_id__idx'
const FALLIDAS = 'Index Scan: webhook_aviso_fallido_idx'

const expectedItems = async () => {
  const ofName = Object.fromEntries(
    [...STATEMENTS].filter(([, { plan }]) => plan === 'generic').map(([name, plan]) => [name, plan]),
  )
  expect(Object.keys(ofName).sort()).toEqual(['eventos.feed', 'eventos.feedByType'])
  return [
    { statement: ofName['eventos.feed']!, indices: [FEED], ordena: 0 },
    // The few rows of each type are merged.
    { statement: ofName['eventos.feedByType']!, indices: [FEED_DE_TIPOS], ordena: 1 },
    { statement: await ofAvisos({}), indices: [ENTREGAS], ordena: 0 },
    { statement: await ofAvisos({ cursor: 'x' }), indices: [ENTREGAS], ordena: 0 },
    { statement: await ofAvisos({ tipo: 'guia.nota' }), indices: [ENTREGAS], ordena: 0 },
    { statement: await ofAvisos({ estado: 'entregado' }), indices: [ENTREGAS], ordena: 0 },
    { statement: await ofAvisos({ estado: 'fallido', cursor: 'x' }), indices: [FALLIDAS], ordena: 0 },
    { statement: await ofAvisos({ creado_desde: '2026-01-01T00:00:00Z' }), indices: [ENTREGAS], ordena: 0 },
    {
      statement: await ofAvisos({ creado_hasta: '2026-01-01T00:00:00Z', cursor: 'x' }),
      indices: [ENTREGAS],
      ordena: 0,
    },
  ]
}

describe('the plan that is kept of each of them reads one index in its order', EN_POSTGRES, () => {
  it('while the tables are empty, and when they are full and nobody has analyzed them', async () => {
    for (const { statement, ...plan } of await expectedItems())
      expect(await planOf(statement), statement.text).toEqual(plan)
    await client.query(FILL_SQL)
    for (const { statement, ...plan } of await expectedItems())
      expect(await planOf(statement), statement.text).toEqual(plan)
  })

  it('when one merchant has nearly everything', async () => {
    await client.query('vacuum (analyze) evento, webhook_aviso')
    for (const { statement, ...plan } of await expectedItems()) {
      expect(statement.plan).toBe('generic')
      expect(await planOf(statement), statement.text).toEqual(plan)
    }
  })
})

/** 20,000 guides. A merchant has many of them, and none of the newest; few are lost, or of the mode `test`. */
const FILL_GUIAS_SQL = `
  set session_replication_role = replica;
  insert into comercio (id, comercio, nombre, creado_en) values ('${COMERCIO}', 'com_000000000001', 'Uno', now());
  insert into guia (comercio_id, modo, id, guia, estado, estado_en, telefono, departamento, municipio, recogida,
    ubicacion_estado, advertencias, secuencia, creado_en, actualizado_en)
  select case when n <= 12000 and n % 3 < 2 then '${COMERCIO}'::uuid else ('01990000-0000-7000-8000-' || lpad(to_hex(n % 200 + 2), 12, '0'))::uuid end,
    case when n % 5000 = 7 then 'test' else 'live' end, ('01990000' || lpad(to_hex(n), 24, '0'))::uuid, 'G' || n,
    case when n % 4000 = 5 then 'extraviado' else 'entregado' end, now(), '+5025000' || n, 'Guatemala', 'Mixco', '{}',
    case when n % 1000 = 3 then 'vencida' else 'confirmada' end, '[]', 1, now(), now()
  from generate_series(1, 20000) n;
  set session_replication_role = origin`

const OWN_VALUES = { comercioId: COMERCIO, modo: 'live' } as const

describe('a list of guides reads no guide that does not match its filter', EN_POSTGRES, () => {
  beforeAll(async () => {
    await client.query(FILL_GUIAS_SQL)
    await client.query('vacuum (analyze) guia')
  })

  it.each<[string, GuiaFilters, string]>([
    ['of a merchant without any of the newest', OWN_VALUES, 'guia_pkey'],
    ['of a state', { ...OWN_VALUES, estado: ['extraviado'] }, 'guia_comercio_id_modo_estado_id_idx'],
    ['of unconfirmed locations', { ...OWN_VALUES, ubicacion: ['vencida', 'fallida'] }, 'guia_ubicacion_idx'],
    ['of all merchants', {}, 'guia_todas_idx'],
    ['of a mode of all merchants', { modo: 'test' }, 'guia_todas_idx'],
    ['of a state of all merchants', { estado: ['extraviado'] }, 'guia_estado_todas_idx'],
    ['of a mode and state of all merchants', { estado: ['extraviado'], modo: 'test' }, 'guia_estado_todas_idx'],
    ['of open decisions of all merchants', { decision: ['pendiente'] }, 'guia_decision_todas_idx'],
  ])('%s', async (_label, filters, index) => {
    expect(await readingOf(filters)).toEqual({ indices: [index], quitadas: 0 })
  })
})
