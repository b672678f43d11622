import { afterEach, describe, expect, it } from 'vitest'
import type { Db } from '../../../server/data/db.ts'
import type { WebhookKey } from '../../../server/domain/records/webhookKey.ts'
import { Leases } from '../../../server/domain/webhooks/sending/leases.ts'
import { processTimers } from '../../../server/platform/time/timers.ts'
import { useEnvironment } from '../../environment.ts'

/** The service has no workers, so only the processes of these tests hold leases. */
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const COMERCIO = '00000000-0000-7000-8000-000000000000'
let serial = 0
const newKey = (): WebhookKey => ({ comercio_id: COMERCIO, modo: 'test', webhook: `wh_${++serial}` })

afterEach(async () => {
  await environment.db.pool.query('delete from webhook_bomba')
})

/** Leases of a process, and what the process was told. */
function startProcess() {
  const taken: string[] = []
  const lost: string[] = []
  const foreign: string[] = []
  const statements: string[] = []
  const sentAt: number[] = []
  let failing: { name: string; loses: 'statement' | 'answer' } | undefined
  const db: Pick<Db, 'query'> = {
    async query(statement, ...values) {
      const fault = failing && failing.name === statement.name ? failing.loses : undefined
      if (fault) failing = undefined
      if (fault === 'statement') throw new Error('the database is away')
      statements.push(statement.name!)
      sentAt.push(performance.now())
      const rows = await environment.db.query(statement, ...values)
      if (fault === 'answer') throw new Error('the answer was lost')
      return rows
    },
  }
  const leases = new Leases(
    { db: db as Db, noWaitDb: db as Db, timers: processTimers },
    {
      onTaken: (keys) => void taken.push(...keys.map(({ webhook }) => webhook)),
      onLost: (webhook) => void lost.push(webhook),
      onNotTaken: (keys) => void foreign.push(...keys.map(({ webhook }) => webhook)),
    },
  )
  const request = async (key: WebhookKey, fromOther = false) => {
    leases.request(key, fromOther)
    await leases.take()
  }
  /** The next statement of this name fails, before or after it was done. */
  const fail = (name: string, loses: 'statement' | 'answer') => {
    failing = { name, loses }
  }
  return { leases, taken, lost, foreign, statements, sentAt, fail, request }
}

/** All processes that are there by now gave their last heartbeat so long ago. */
const silenceAll = (seconds: number) =>
  environment.db.pool.query(`update webhook_bomba set latido_en = now() - $1 * interval '1 second'`, [seconds])

const rowsIn = async (table: string) => (await environment.db.pool.query(`select * from ${table}`)).rows

describe('a lease of an endpoint', () => {
  it('belongs to one process alone; who asks in vain says once that there is work', async () => {
    const [holder, other] = [startProcess(), startProcess()]
    const key = newKey()
    await holder.request(key)
    await other.request(key)
    expect([holder.taken, other.taken, other.foreign]).toEqual([[key.webhook], [], [key.webhook]])
    // The holder also got what another process announced.
    await other.request(key, true)
    expect(other.foreign).toEqual([key.webhook])
    await holder.leases.release([key.webhook])
    await other.request(key)
    expect(other.taken).toEqual([key.webhook])
  })

  it('goes to one of many processes that ask at once', async () => {
    const processes = Array.from({ length: 6 }, startProcess)
    const keys = Array.from({ length: 400 }, newKey)
    await Promise.all(
      processes.map(({ leases }, i) => {
        for (const key of i % 2 === 0 ? keys : keys.toReversed()) leases.request(key, true)
        return leases.take()
      }),
    )
    const all = processes.flatMap(({ leases }) => leases.all())
    expect([all.length, new Set(all).size]).toEqual([400, 400])
  })

  it('is had again right after it was given up, however near the two come', async () => {
    const { leases, request } = startProcess()
    const key = newKey()
    for (let time = 1; time <= 20; time++) {
      await request(key)
      const released = leases.release([key.webhook])
      await Promise.all([released, request(key)])
      expect(leases.all()).toEqual([key.webhook])
      await leases.release([key.webhook])
    }
  })

  it('lives by the heartbeats of its process, and is lost when another process took it over', async () => {
    const [holder, other] = [startProcess(), startProcess()]
    const key = newKey()
    await holder.request(key)
    const beatAt = performance.now() + 5_000
    await holder.leases.beat(beatAt)
    expect([beatAt + 9_990, beatAt + 10_010].map((now) => holder.leases.areValid(now))).toEqual([true, false])
    await silenceAll(24)
    expect(await other.leases.bury()).toBe(0)
    await silenceAll(26)
    expect(await other.leases.bury()).toBe(1)
    await other.request(key)
    expect(other.taken).toEqual([key.webhook])
    // What the old holder gives up is not what the new one holds.
    await holder.leases.release([key.webhook])
    await holder.leases.beat(beatAt + 5_000)
    await other.leases.beat(beatAt + 20_000)
    expect([holder.leases.all(), other.lost, other.leases.all()]).toEqual([[], [], [key.webhook]])
  })

  it('is told to its old holder at the next heartbeat', async () => {
    const [holder, other] = [startProcess(), startProcess()]
    const key = newKey()
    await holder.request(key)
    await silenceAll(26)
    await other.leases.bury()
    await holder.leases.beat(performance.now() + 5_000)
    expect([holder.lost, holder.leases.all()]).toEqual([[key.webhook], []])
    await holder.request(key)
    expect(holder.leases.all()).toEqual([key.webhook])
  })

  it('is valid from the time when its heartbeat was sent, not answered', async () => {
    const { leases, sentAt, request } = startProcess()
    const before = performance.now()
    await request(newKey())
    const [registeredAt] = sentAt as [number]
    expect([leases.areValid(before + 9_900), leases.areValid(registeredAt + 10_001)]).toEqual([true, false])
  })

  it('costs no statement of its own: any number has one every four seconds', async () => {
    const { leases, lost, statements } = startProcess()
    for (let n = 0; n < 500; n++) leases.request(newKey(), false)
    await leases.take()
    const start = Math.ceil(performance.now()) + 4_000
    for (let ms = 0; ms <= 20_000; ms += 500) await leases.beat(start + ms)
    expect(statements).toEqual(['leases.register', ...Array(3).fill('leases.claim'), ...Array(6).fill('leases.beat')])
    expect([lost, leases.all().length, leases.areValid(start + 29_000)]).toEqual([[], 500, true])
  })

  it('is lost with all others when the database no longer has it, and can be had again', async () => {
    const { leases, lost, request } = startProcess()
    const [key, other] = [newKey(), newKey()]
    await request(key)
    await request(other)
    await environment.db.pool.query('delete from webhook_arriendo where webhook = $1', [key.webhook])
    await leases.beat(performance.now() + 5_000)
    expect(lost.sort()).toEqual([key.webhook, other.webhook].sort())
    await request(key)
    expect(leases.all()).toEqual([key.webhook])
  })

  it('that could not be released is claimed again by the same process', async () => {
    const { leases, taken, fail, request } = startProcess()
    const key = newKey()
    await request(key)
    fail('leases.release', 'statement')
    await expect(leases.release([key.webhook])).rejects.toThrow('away')
    expect(leases.all()).toEqual([])
    await request(key)
    expect([taken, leases.all()]).toEqual([[key.webhook, key.webhook], [key.webhook]])
  })

  it('is found by the next claim when the answer to its claim was lost', async () => {
    const { leases, fail, request } = startProcess()
    const key = newKey()
    fail('leases.claim', 'answer')
    await expect(request(key)).rejects.toThrow('lost')
    expect([leases.all(), (await rowsIn('webhook_arriendo')).length]).toEqual([[], 1])
    await request(key)
    expect(leases.all()).toEqual([key.webhook])
  })

  it('is not ended by a release that comes after its next claim', async () => {
    const { leases, fail, request } = startProcess()
    const key = newKey()
    await request(key)
    const [{ bomba, toma }] = (await rowsIn('webhook_arriendo')) as [{ bomba: string; toma: number }]
    fail('leases.release', 'statement')
    await leases.release([key.webhook]).catch(() => {})
    await request(key)
    const late = 'delete from webhook_arriendo where webhook = $1 and bomba = $2 and toma = $3'
    expect((await environment.db.pool.query(late, [key.webhook, bomba, toma])).rowCount).toBe(0)
    expect(leases.all()).toEqual([key.webhook])
  })

  it('is not claimed by a process that was declared dead a moment before', async () => {
    const { leases, lost, request } = startProcess()
    const [key, other] = [newKey(), newKey()]
    await request(key)
    await environment.db.pool.query('delete from webhook_bomba')
    await request(other)
    expect([lost, leases.all()]).toEqual([[key.webhook], []])
    await request(other)
    expect([leases.all(), (await rowsIn('webhook_bomba')).length]).toEqual([[other.webhook], 1])
  })
})

describe('a search for dead processes', () => {
  it('ends their leases once, and leaves nothing of them behind', async () => {
    const [dead, other] = [startProcess(), startProcess()]
    await dead.request(newKey())
    await dead.request(newKey())
    await silenceAll(26)
    const ended = await Promise.all([other, other, other].map(({ leases }) => leases.bury()))
    expect(ended.sort()).toEqual([0, 0, 2])
    expect([await rowsIn('webhook_bomba'), await rowsIn('webhook_arriendo')]).toEqual([[], []])
  })
})
