import { describe, expect, it } from 'vitest'
import { Leases } from '../../../server/domain/webhooks/sending/leases.ts'
import { processTimers } from '../../../server/platform/time/timers.ts'
import { buildGuia, FULL_RUN_ONLY, waitUntil } from '../../factories.ts'
import { holdAnswers } from '../receiver.ts'
import { buildAvisoCode, useWebhooks, waitForAviso } from '../webhooks.ts'

const { environment, createEndpoint: nuevo } = useWebhooks()

describe('a service that loses its lease in the middle of an exchange', FULL_RUN_ONLY, () => {
  it('takes it again and sends nothing twice', async () => {
    const heldAnswers = holdAnswers()
    const { api, webhook, receptor } = await nuevo(heldAnswers.responder)
    const { guia } = await api.guias.crear(buildGuia())
    await waitUntil(async () => receptor.receivedWebhooks.length === 1)
    const { pool } = environment.db
    const processes = async () => (await pool.query<{ id: string }>('select id from webhook_bomba')).rows
    const [earlier] = await processes()
    await pool.query('delete from webhook_bomba')
    await waitUntil(async () => (await processes()).some(({ id }) => id !== earlier!.id))
    await api.guias.crear(buildGuia())
    await waitUntil(async () => receptor.receivedWebhooks.length === 2)
    heldAnswers.release()
    const aviso = await waitForAviso(api, webhook, buildAvisoCode(webhook, guia))
    expect([aviso.estado, aviso.intentos, receptor.receivedWebhooks.length]).toEqual(['entregado', 1, 2])
  })
})

describe('a service beside another process that holds an endpoint', FULL_RUN_ONLY, () => {
  it('sends nothing there while that one lives, and everything once it died', async () => {
    const { comercio, api, webhook, receptor } = await nuevo()
    const { db } = environment
    const listener = { onTaken() {}, onLost() {}, onNotTaken() {} }
    const other = new Leases({ db, noWaitDb: db, timers: processTimers }, listener)
    await waitUntil(async () => {
      other.request({ comercio_id: comercio.id, modo: 'test', webhook }, false)
      await other.take()
      return other.all().length === 1
    })
    const { guia } = await api.guias.crear(buildGuia())
    // The oldest heartbeat with which a process lives, and some rounds of the search for dead ones.
    const start = Math.ceil(performance.now())
    for (let beat = 1; beat <= 3; beat++) {
      await other.beat(start + beat * 5_000)
      await db.pool.query(`update webhook_bomba set latido_en = latido_en - interval '20 seconds'`)
      await other.bury()
    }
    expect([other.all(), receptor.receivedWebhooks]).toEqual([[webhook], []])
    await db.pool.query(`update webhook_bomba set latido_en = now() - interval '26 seconds'`)
    await waitForAviso(api, webhook, buildAvisoCode(webhook, guia))
    expect(environment.log.some((line) => line.includes('"endpoints":1,"msg":"endpoints of a lost worker"'))).toBe(true)
    await other.beat(start + 25_000)
    expect(other.all()).toEqual([])
  })
})
