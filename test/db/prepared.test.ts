import { afterAll, expect, it } from 'vitest'
import { createCursors } from '../../server/api/lists/cursor.ts'
import { type Db, openDb } from '../../server/data/db.ts'
import { findGuiaPage, type GuiaFilters } from '../../server/domain/guias/list.ts'
import { listarAvisosDeWebhook } from '../../server/domain/webhooks/listarAvisos.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { MASTER_KEY, shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()
const openDbs: Db[] = []
afterAll(() => Promise.all(openDbs.map((db) => db.close())))

/** Every choice among members, each given or not. */
function combine<T extends object>(members: T): Partial<T>[] {
  let hechos: Partial<T>[] = [{}]
  for (const [name, value] of Object.entries(members))
    hechos = hechos.flatMap((done) => [done, { ...done, [name]: value }])
  return hechos
}

it('a connection keeps at most 64 prepared statements for all combinations of filters', async () => {
  const { id: comercioId, api } = await environment.createComercio()
  const { webhook } = await api.webhooks.crear({ url: 'http://127.0.0.1:9/x' })
  const db = openDb(environment.databaseUrl, { connections: 1 })
  openDbs.push(db)
  const cursores = createCursors(createSecrets([Buffer.from(MASTER_KEY, 'base64')]))
  const commonFilters = { creado_desde: '2026-01-01T00:00:00Z', creado_hasta: '2027-01-01T00:00:00Z' }
  const guiaFilters = combine({
    ...commonFilters,
    comercioId,
    modo: 'test' as const,
    external_ref: 'a',
    telefono: '+50255551234',
    estado: ['aceptado', 'cancelado'] satisfies GuiaFilters['estado'],
  })
  for (const filters of guiaFilters)
    await findGuiaPage({ db, cursors: cursores }, { operacion: 'x', dueno: 'y' }, filters, () => 0)
  const avisoFilters = combine({
    ...commonFilters,
    estado: 'fallido' as const,
    tipo: 'guia.aceptado' as const,
    guia: '7K3M9QX2A1B4',
  })
  for (const query of avisoFilters) {
    const identity = { comercioId, modo: 'test' }
    const deps = { db, cursors: cursores, clock: () => new Date() }
    await listarAvisosDeWebhook({ path: { webhook }, query, identity } as never, deps as never)
  }
  const { rows } = await db.pool.query('select count(*)::int as n from pg_prepared_statements')
  expect(rows[0].n).toBeLessThanOrEqual(64)
})
