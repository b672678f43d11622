import { describe, expect, it } from 'vitest'
import type { Db } from '../../server/data/db.ts'
import { createDryRuns, type DryRunInput } from '../../server/domain/webhooks/dryRun.ts'
import { buildGuia, RECOGIDA } from '../factories.ts'
import { nobody, useWebhooks } from './webhooks.ts'

const { environment, create: registrar } = useWebhooks()
const UNHURRIED_SIGNAL = new AbortController().signal
const EXACTO = { eventos: 1_100, avisos: 1_100, exacto: true }

/** A merchant with 1,100 events, more than one step looks at, and what a dry run of his is asked about. */
async function createManyGuias() {
  const comercio = await environment.createComercio()
  const desde = new Date(environment.clock().getTime() - 1_000)
  for (let lote = 0; lote < 11; lote++)
    await comercio.api.guias.crearLote({ recogida: RECOGIDA, guias: Array.from({ length: 100 }, () => buildGuia()) })
  const { webhook } = await registrar(comercio, nobody())
  const hasta = new Date(environment.clock().getTime() + 1_000)
  const { id: comercio_id, modo } = comercio
  const sentRequest: DryRunInput = { comercio_id, modo, webhook, tipos: ['*'], desde, hasta, todas: false }
  return { comercio, webhook, desde, requested: sentRequest }
}

/** The database, with what is asked of it counted: the most at once in all, and of one merchant. */
function createCountingDb() {
  const running = new Map<string, number>()
  const seen = { todas: 0, ownItems: 0, queries: 0 }
  const db: object = {
    asRole: () => db,
    async query(sql: unknown, values: { comercio_id: string }) {
      const { comercio_id } = values
      running.set(comercio_id, (running.get(comercio_id) ?? 0) + 1)
      seen.queries++
      seen.ownItems = Math.max(seen.ownItems, running.get(comercio_id)!)
      seen.todas = Math.max(
        seen.todas,
        [...running.values()].reduce((sum, n) => sum + n, 0),
      )
      try {
        return await (environment.db.query as (...all: unknown[]) => Promise<unknown>)(sql, values)
      } finally {
        running.set(comercio_id, running.get(comercio_id)! - 1)
      }
    },
  }
  return { db: db as unknown as Db, seen }
}

describe('a dry run', () => {
  it('counts in steps, one at a time for a merchant and two for all, and stops when it takes too long', async () => {
    const [one, other, third] = [await createManyGuias(), await createManyGuias(), await createManyGuias()]
    const { db, seen } = createCountingDb()
    const runDry = createDryRuns(db)
    const all = await Promise.all(
      [one, other, third].flatMap(({ requested: sentRequest }) =>
        Array.from({ length: 5 }, () => runDry(sentRequest, UNHURRIED_SIGNAL)),
      ),
    )
    expect(all).toEqual(Array.from({ length: 15 }, () => EXACTO))
    expect([seen.todas, seen.ownItems]).toEqual([2, 1])
    expect(
      await one.comercio.api.webhooks.ensayarRecuperacion(one.webhook, { desde: one.desde.toISOString() }),
    ).toEqual(EXACTO)
    let ms = 0
    const slow = createDryRuns(db, () => (ms += 1_000))
    expect(await slow(one.requested, UNHURRIED_SIGNAL)).toEqual({ eventos: 1_000, avisos: 1_000, exacto: false })
  })

  it('counts what is there, although a transaction that began before it is still open', async () => {
    const openTransaction = await environment.db.pool.connect()
    try {
      await openTransaction.query('begin')
      await openTransaction.query('select pg_current_xact_id()')
      const { requested: sentRequest } = await createManyGuias()
      expect(await createDryRuns(environment.db)(sentRequest, UNHURRIED_SIGNAL)).toEqual(EXACTO)
    } finally {
      await openTransaction.query('rollback')
      openTransaction.release()
    }
  })

  it('is never begun for who went away', async () => {
    const { requested: sentRequest } = await createManyGuias()
    const { db, seen } = createCountingDb()
    await expect(createDryRuns(db)(sentRequest, AbortSignal.abort())).rejects.toMatchObject({ codigo: 'no_disponible' })
    expect(seen.queries).toBe(0)
  })
})
