// What the lists of guides read, in PostgreSQL's own count.

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Db, openDb, type Statement } from '../../server/data/db.ts'
import type { Role } from '../../server/data/scope.ts'
import { findGuiaPage, type GuiaFilters } from '../../server/domain/guias/list.ts'
import { EN_POSTGRES } from '../factories.ts'
import { createTestDatabase, dropTestDatabase } from '../postgres.ts'

const BASE = 'filtros'
const COMERCIO = '01990000-0000-7000-8000-000000000001'
/** One of the small merchants. */
const OTRO = '01990000-0000-7000-8001-000000000002'
const url = Object.assign(new URL(inject('postgres')), { pathname: `/${BASE}` }).href
const client = new pg.Client(url)
let db: Db

/**
 * 20,000 guides of one merchant in three states, half of them for one telephone. Some have an open decision, and a quarter
 * a closed one.
 */
const FILL_SQL = `
  insert into comercio (id, comercio, nombre, creado_en) values ('${COMERCIO}', 'com_000000000001', 'Uno', now());
  insert into guia (comercio_id, modo, id, guia, estado, estado_en, telefono, departamento, municipio, recogida, metadatos,
    ubicacion_estado, decision, advertencias, secuencia, creado_en, actualizado_en)
  select '${COMERCIO}', 'live', ('01990000' || lpad(to_hex(n), 24, '0'))::uuid, 'G' || n,
    (array['aceptado', 'en_ruta', 'entregado'])[1 + n % 3], now(), case n % 2 when 0 then '+50255550000' else '+502' || n end,
    'Guatemala', 'Mixco', '{}', '{"canal": "web"}', 'confirmada',
    case when n % 500 = 0 then '{"estado": "pendiente"}'::jsonb when n % 4 = 1 then '{"estado": "superada"}' end, '[]', 1, now(), now()
  from generate_series(1, 20000) n`
/**
 * 50,000 older guides of 999 other merchants, a seventh of them in test mode. The 200 oldest are returned, and no guide
 * is cancelled.
 */
const FILL_OTHERS_SQL = `
  insert into comercio (id, comercio, nombre, creado_en)
  select ('01990000-0000-7000-8001-' || lpad(to_hex(c), 12, '0'))::uuid, 'com_' || lpad(c::text, 12, '0'), 'Otro', now()
  from generate_series(2, 1000) c;
  insert into guia (comercio_id, modo, id, guia, external_ref, estado, estado_en, telefono, departamento, municipio, recogida,
    metadatos, ubicacion_estado, advertencias, secuencia, creado_en, actualizado_en)
  select ('01990000-0000-7000-8001-' || lpad(to_hex(2 + n % 999), 12, '0'))::uuid,
    case n % 7 when 0 then 'test' else 'live' end, ('01980000' || lpad(to_hex(n), 24, '0'))::uuid, 'H' || n, 'R' || n,
    case when n <= 200 then 'devuelto' else 'aceptado' end, now(), '+503' || n, 'Guatemala', 'Mixco', '{}', '{}',
    'confirmada', '[]', 1, now(), now()
  from generate_series(1, 50000) n`

beforeAll(async () => {
  await createTestDatabase(BASE)
  await client.connect()
  await client.query(FILL_SQL)
  await client.query('vacuum analyze guia')
  db = openDb(url, { connections: 1 })
})
afterAll(async () => {
  await db.close()
  await client.end()
  await dropTestDatabase(BASE)
})

interface Nodo {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Nodo[]
}
const nodesOf = (node: Nodo): Nodo[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** Rows of guides that the scans of a merchant's list read. */
const countRows = (filters: GuiaFilters) =>
  countReadRowsAs('guias_api', { comercioId: COMERCIO, modo: 'live', ...filters })
/** Rows of guides that the scans of the operators' list read. */
const countReadRowsOfAll = (filters: GuiaFilters) => countReadRowsAs('guias_operacion', filters)

async function countReadRowsAs(dbRole: Role, filters: GuiaFilters): Promise<number> {
  const sentRequests: [Statement, Record<string, unknown>][] = []
  const query = async (...sentRequest: [Statement, Record<string, unknown>]) => {
    sentRequests.push(sentRequest)
    throw new Error('not run')
  }
  const caller = { operacion: 'listarGuias', dueno: COMERCIO }
  const list = findGuiaPage(
    { db: { query } as never, cursors: {} as never },
    caller,
    { limite: 50, ...filters },
    () => {},
  )
  await expect(list).rejects.toThrow('not run')
  const [sql, values] = sentRequests[0]!
  // The service's own connection, with its settings.
  const [row] = await db.asRole(dbRole, dbRole === 'guias_api' ? [COMERCIO] : []).query(
    {
      ...sql,
      name: undefined,
      text: `explain (analyze, timing off, format json) ${sql.text}`,
    } as Statement<Record<string, unknown>, { 'QUERY PLAN': [{ Plan: Nodo }] }>,
    values,
  )
  return nodesOf(row!['QUERY PLAN'][0].Plan)
    .filter(({ 'Relation Name': table }) => table === 'guia')
    .reduce(
      (sum, node) => sum + node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)),
      0,
    )
}

const describeOneComercio = () => {
  it.each([
    ['metadata', { metadatos: { canal: 'nada' } }],
    ['change', { actualizado_desde: '2099-01-01T00:00:00Z' }],
    ['metadata and a state', { metadatos: { canal: 'nada' }, estado: ['aceptado'] }],
    ['a location and a state', { ubicacion: ['fallida'], estado: ['aceptado'] }],
    ['closed decisions of no guide', { decision: ['aplicada'] }],
    ['open decisions beside a telephone', { decision: ['tomada'], telefono: '+50255550000' }],
    ['a telephone and a state', { telefono: '+50255550000', estado: ['cancelado'] }],
  ] as [string, GuiaFilters][])('reads 2,000 guides and the position of the last one, by %s', async (_de, filters) => {
    expect(await countRows(filters)).toBe(4_000)
  })

  it('reads 2,000 guides, and one more of each other state, by metadata and three states', async () => {
    const estado = ['aceptado', 'en_ruta', 'entregado'] as const
    expect(await countRows({ metadatos: { canal: 'nada' }, estado: [...estado] })).toBeLessThanOrEqual(4_004)
    expect(await countRows({ metadatos: { canal: 'web' }, estado: [...estado] })).toBeLessThanOrEqual(53)
  })

  it.each([
    ['no filter', {}],
    ['a reference of no guide', { external_ref: 'X' }],
    ['a telephone', { telefono: '+50255550000' }],
    ['open decisions', { decision: ['pendiente'] }],
    ['open decisions of no guide', { decision: ['tomada'] }],
    ['closed decisions', { decision: ['superada'], limite: 10 }],
    ['metadata of all guides', { metadatos: { canal: 'web' } }],
    ['the location of all guides', { ubicacion: ['confirmada'] }],
    ['an unconfirmed location', { ubicacion: ['fallida'] }],
  ] as [string, GuiaFilters][])('reads no more guides than it shows, by %s', async (_de, filters) => {
    expect(await countRows(filters)).toBeLessThanOrEqual(51)
  })
}

describe('the first page of the only merchant’s list', EN_POSTGRES, describeOneComercio)

describe('among 1,000 merchants', EN_POSTGRES, () => {
  beforeAll(async () => {
    await client.query(FILL_OTHERS_SQL)
    await client.query('vacuum analyze guia')
  })

  describe('the first page of a merchant’s list', describeOneComercio)

  describe('the first page of the operators’ list', () => {
    it.each([
      ['metadata', { metadatos: { canal: 'nada' } }],
      ['location', { ubicacion: ['fallida'] }],
      ['change', { actualizado_desde: '2099-01-01T00:00:00Z' }],
      ['closed decisions of no guide', { decision: ['aplicada'] }],
      ['municipality', { municipio: 'Nada' }],
      ['assignment', { asignada: true }],
    ] as [string, GuiaFilters][])('reads 2,000 guides, and one more of the other mode, by %s', async (_de, filters) => {
      expect(await countReadRowsOfAll(filters)).toBeLessThanOrEqual(4_002)
    })

    it.each([
      ['a telephone and a mode', { telefono: '+50255550000', modo: 'test' }],
      ['a telephone and a state', { telefono: '+50255550000', estado: ['cancelado'] }],
    ] as [string, GuiaFilters][])(
      'reads 2,000 guides and the position of the last one, by %s',
      async (_de, filters) => {
        expect(await countReadRowsOfAll(filters)).toBe(4_000)
      },
    )

    it.each([
      ['metadata', { metadatos: { canal: 'nada' } }],
      ['change', { actualizado_desde: '2099-01-01T00:00:00Z' }],
    ] as [string, GuiaFilters][])(
      'reads 2,000 guides of each mode at most, by merchant and %s',
      async (_de, filters) => {
        expect(await countReadRowsOfAll({ comercioId: COMERCIO, ...filters })).toBe(4_000)
        expect(await countReadRowsOfAll({ comercioId: OTRO, ...filters })).toBeLessThanOrEqual(2 * 51)
      },
    )

    it.each([
      ['a telephone', { telefono: '+50255550000' }],
      ['a reference', { external_ref: 'R5' }],
      ['a reference of no guide', { external_ref: 'X' }],
      ['open decisions', { decision: ['pendiente'] }],
      ['open decisions of no guide', { decision: ['tomada'] }],
      ['open decisions of a mode', { decision: ['pendiente'], modo: 'live', limite: 10 }],
      ['a small merchant', { comercioId: OTRO }],
      ['a merchant and a state of no guide', { comercioId: COMERCIO, estado: ['cancelado'] }],
      ['a merchant and a mode without guides', { comercioId: COMERCIO, modo: 'test' }],
      ['a mode', { modo: 'test' }],
      ['two states of a mode', { estado: ['devuelto', 'cancelado'], modo: 'live' }],
      ['a merchant and an unconfirmed location', { comercioId: COMERCIO, ubicacion: ['fallida'] }],
    ] as [string, GuiaFilters][])('reads no more guides than it shows, by %s', async (_de, filters) => {
      expect(await countReadRowsOfAll(filters)).toBeLessThanOrEqual(51)
    })

    it.each([
      ['no filter', {}],
      ['a state', { estado: ['devuelto'] }],
      ['metadata of all guides', { metadatos: { canal: 'web' } }],
      ['the location of all guides', { ubicacion: ['confirmada'] }],
      ['three frequent states', { estado: ['aceptado', 'en_ruta', 'entregado'] }],
    ] as [string, GuiaFilters][])('reads what it shows, and one more of each range, by %s', async (_de, filters) => {
      expect(await countReadRowsOfAll(filters)).toBeLessThanOrEqual(51 + 2 * (filters.estado?.length ?? 1))
    })

    it('reads a page of each mode of a big merchant', async () => {
      expect(await countReadRowsOfAll({ comercioId: COMERCIO })).toBeLessThanOrEqual(51)
      const ofEstado = { comercioId: COMERCIO, estado: ['aceptado' as const] }
      expect(await countReadRowsOfAll(ofEstado)).toBeLessThanOrEqual(51)
    })
  })
})
