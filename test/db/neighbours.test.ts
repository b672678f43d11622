// What a merchant asks of the feed is read from his own events, however many others have: also by a plan that was made for
// nobody in particular, as PostgreSQL makes them for prepared statements.

import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { STATEMENTS } from '../../server/data/db.ts'
import '../../server/domain/eventos/stream.ts'
import '../../server/domain/bitacora/chain.ts'
import { EN_POSTGRES, hasta } from '../factories.ts'
import { createTestDatabase, dropTestDatabase } from '../postgres.ts'

const BASE = 'vecinos'
const cliente = new pg.Client({
  connectionString: Object.assign(new URL(inject('postgres')), { pathname: `/${BASE}` }).href,
})

/** Transactions, and events of as many merchants in each. */
const TRANSACCIONES = 2_000
const EN_CADA_UNA = 20

beforeAll(async () => {
  await createTestDatabase(BASE)
  await cliente.connect()
  await cliente.query('set synchronous_commit = off')
  await cliente.query('set session_replication_role = replica')
  await cliente.query(`do $$ begin
    for i in 1..${TRANSACCIONES} loop
      insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)
      select lpad((1 + floor(40 * random()))::text, 32, '0')::uuid, 'live', gen_random_uuid(), 1, 'G' || i || '-' || n,
        'guia.aceptado', 'aceptado', '{}', now(), now() from generate_series(1, ${EN_CADA_UNA}) n;
      commit;
    end loop;
  end $$`)
  // The planner counts the events before the oldest open transaction, and other tests have transactions of their own.
  await hasta(async () => {
    const { rows } = await cliente.query(
      'select pg_snapshot_xmin(pg_current_snapshot()) > max(xid) as pasadas from evento',
    )
    return rows[0].pasadas
  })
  await cliente.query('analyze evento')
  await cliente.query('set plan_cache_mode = force_generic_plan')
})
afterAll(async () => {
  await cliente.end()
  await dropTestDatabase(BASE)
})

interface Nodo {
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: Nodo[]
}
const nodos = (nodo: Nodo): Nodo[] => [nodo, ...(nodo.Plans ?? []).flatMap(nodos)]

let preparadas = 0
/** The looks at `evento` that a statement's general plan takes among everybody's. */
async function entreTodas(nombre: string): Promise<string[]> {
  const { text, parameters: parametros } = STATEMENTS.get(nombre)!
  const suya = `p${++preparadas}`
  await cliente.query(`prepare ${suya} as ${text}`)
  const ninguno = parametros.length > 0 ? `(${parametros.map(() => 'null').join()})` : ''
  const { rows } = await cliente.query(`explain (format json) execute ${suya}${ninguno}`)
  return nodos(rows[0]['QUERY PLAN'][0].Plan)
    .filter((nodo) => nodo['Relation Name'] === 'evento' && !nodo['Index Cond']?.includes('comercio_id'))
    .map((nodo) => nodo['Index Name'] ?? 'the whole table')
}

const DEL_FLUJO = ['eventos.flujo', 'eventos.flujoDeTipos', 'eventos.flujoDeGuia', 'eventos.comienzoDesde']

describe('the feed of one among many merchants', EN_POSTGRES, () => {
  it.each(DEL_FLUJO)('%s reads his events alone', async (nombre) => {
    expect(await entreTodas(nombre)).toEqual([])
  })

  it('would be read through everybody’s, were there an index of their order alone', async () => {
    await cliente.query('create index de_todos on evento (xid)')
    expect(await entreTodas('eventos.flujo')).toEqual(['de_todos'])
    await cliente.query('drop index de_todos')
  })

  it('leaves the chain its index', async () => {
    expect(await entreTodas('bitacora.siguientesEventos')).toEqual(['evento_cadena_idx'])
  })
})
