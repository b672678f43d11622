import { PgBoss } from 'pg-boss'
import { describe, expect, it } from 'vitest'
import { LEASE_QUEUE } from '../../server/domain/webhooks/sending/leaseRecords.ts'
import { Leases } from '../../server/domain/webhooks/sending/leases.ts'
import { processTimers } from '../../server/platform/time/timers.ts'
import { buildGuia, FULL_RUN_ONLY, hasta } from '../factories.ts'
import { holdAnswers } from './receiver.ts'
import { buildAvisoCode, terminada, useWebhooks } from './webhooks.ts'

const { environment, nuevo } = useWebhooks()

describe('a service that loses its lease in the middle of an exchange', FULL_RUN_ONLY, () => {
  it('takes it again and sends nothing twice', async () => {
    const retenedor = holdAnswers()
    const { api, webhook, receptor } = await nuevo(retenedor.responder)
    const { guia } = await api.guias.crear(buildGuia())
    await hasta(async () => receptor.receivedWebhooks.length === 1)
    const { pool } = environment.db
    const arriendos = async () =>
      (await pool.query<{ id: string }>('select id from pgboss.job where name = $1', [LEASE_QUEUE])).rows
    const [antes] = await arriendos()
    await pool.query('delete from pgboss.job')
    await hasta(async () => (await arriendos()).some(({ id }) => id !== antes!.id))
    await api.guias.crear(buildGuia())
    await hasta(async () => receptor.receivedWebhooks.length === 2)
    retenedor.release()
    const aviso = await terminada(api, webhook, buildAvisoCode(webhook, guia))
    expect([aviso.estado, aviso.intentos, receptor.receivedWebhooks.length]).toEqual(['entregado', 1, 2])
  })
})

describe('a service beside another process that holds an endpoint', FULL_RUN_ONLY, () => {
  it('sends nothing there while that one lives, and everything once it died', async () => {
    const { comercio, api, webhook, receptor } = await nuevo()
    const { pool } = environment.db
    const boss = new PgBoss({
      db: { executeSql: (text, values) => pool.run(text, values) },
      schedule: false,
      supervise: false,
    })
    await boss.start()
    const otro = new Leases(boss, environment.db, processTimers, { onTaken() {}, onLost() {}, onNotTaken() {} })
    otro.request({ comercio_id: comercio.id, modo: 'test', webhook }, false)
    await hasta(async () => {
      await otro.take()
      return otro.all().length === 1
    })
    const latidos = setInterval(() => void otro.beat(performance.now()), 500)
    const { guia } = await api.guias.crear(buildGuia())
    // Its job has been silent for long; the process hasn't.
    await pool.query(`update pgboss.job set heartbeat_on = now() - interval '500 seconds' where name = $1`, [
      LEASE_QUEUE,
    ])
    const desde = new Date()
    await hasta(async () => {
      const { rows } = await pool.query(`select from webhook_bomba where id = $1 and latido_en > $2`, [
        '00000000-0000-0000-0000-000000000000',
        desde,
      ])
      return rows.length === 1
    })
    expect(receptor.receivedWebhooks).toEqual([])
    clearInterval(latidos)
    await pool.query(`update webhook_bomba set latido_en = now() - interval '26 seconds'`)
    await terminada(api, webhook, buildAvisoCode(webhook, guia))
    expect(environment.log.some((linea) => linea.includes('"endpoints":1,"msg":"endpoints of a lost worker"'))).toBe(
      true,
    )
    await otro.beat(performance.now() + 5_000)
    expect(otro.all()).toEqual([])
    await boss.stop({ graceful: false })
  })
})
