import { randomUUID } from 'node:crypto'
import { PgBoss } from 'pg-boss'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Rescue } from '../../server/data/queue/rescue.ts'
import { createLog } from '../../server/platform/log.ts'
import { JOBS } from '../../server/startup/jobs.ts'
import { useEnvironment } from '../environment.ts'

/** No workers: only the tests claim jobs and look for dead workers. */
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const COLA = 'pruebas'

let boss: PgBoss
beforeAll(async () => {
  const { pool } = environment.db
  boss = new PgBoss({
    db: { executeSql: (text, values) => pool.run(text, values) },
    schedule: false,
    supervise: false,
  })
  await boss.start()
})
afterAll(() => boss.stop({ graceful: false }))

function child() {
  const lines: string[] = []
  const wokenQueues: string[] = []
  const deps = {
    noWaitDb: environment.db,
    log: createLog('warn', { write: (line) => lines.push(line) }),
    wake: (queue: string) => void wokenQueues.push(queue),
  }
  return { rescue: new Rescue(boss, deps, [COLA]), lineas: lines, wokenQueues }
}

/** A job that a worker holds. */
async function takeOne(options: object = {}) {
  const id = randomUUID()
  await boss.insert(COLA, [{ id, ...options }])
  const jobs = await boss.fetch(COLA, { batchSize: 100 })
  return jobs.find((one) => one.id === id)!
}
const silence = (id: string, seconds: number) =>
  environment.db.pool.query(`update pgboss.job set heartbeat_on = now() - $2 * interval '1 second' where id = $1`, [
    id,
    seconds,
  ])
const estado = async (id: string) => (await boss.findJobs(COLA, { id }))[0]?.state

describe('a job whose heartbeat stopped', () => {
  it('goes back to its queue at the second look, and is claimed again a second later', async () => {
    const { rescue, lineas: lines, wokenQueues } = child()
    const job = await takeOne()
    await silence(job.id, 4)
    await rescue.look()
    expect(await estado(job.id)).toBe('active')
    await rescue.look()
    expect(await estado(job.id)).toBe('retry')
    expect(lines.join()).toMatch(/"cola":"pruebas","trabajos":1,"msg":"jobs of a lost worker"/)
    await expect.poll(() => wokenQueues).toEqual([COLA])
    const [other] = await boss.fetch(COLA)
    expect([other!.id, other!.retryCount]).toEqual([job.id, 1])
    // The first worker was alive after all: it can't end the attempt of the second one.
    const { id, retryCount } = job
    expect(await boss.complete(COLA, { id, retryCount })).toMatchObject({ affected: 0 })
    expect(await boss.complete(COLA, { id, retryCount: 1 })).toMatchObject({ affected: 1 })
  })

  it('stays with a worker that renews it between two looks', async () => {
    const { rescue, wokenQueues } = child()
    const job = await takeOne()
    await silence(job.id, 60)
    await rescue.look()
    await boss.touch(COLA, { id: job.id, retryCount: job.retryCount })
    await rescue.look()
    await silence(job.id, 5)
    await rescue.look()
    expect([await estado(job.id), wokenQueues]).toEqual(['active', []])
    await boss.complete(COLA, job.id)
  })

  it('stays with a worker that renews it, even if two looks find it silent', async () => {
    const { rescue } = child()
    const job = await takeOne()
    await silence(job.id, 60)
    await rescue.look()
    await silence(job.id, 5)
    await rescue.look()
    expect(await estado(job.id)).toBe('active')
    await boss.complete(COLA, job.id)
  })

  it('stays when its worker renewed it a second ago, or when it has no heartbeat', async () => {
    const { rescue } = child()
    const recentItem = await takeOne()
    const jobWithoutHeartbeat = await takeOne()
    await silence(recentItem.id, 1)
    await silence(jobWithoutHeartbeat.id, 60)
    await environment.db.pool.query('update pgboss.job set heartbeat_seconds = null where id = $1', [
      jobWithoutHeartbeat.id,
    ])
    for (let time = 0; time < 3; time++) await rescue.look()
    expect([await estado(recentItem.id), await estado(jobWithoutHeartbeat.id)]).toEqual(['active', 'active'])
    await boss.complete(COLA, [recentItem.id, jobWithoutHeartbeat.id])
  })
})

it('every queue has heartbeats and the same short delay', async () => {
  const colas = JOBS.map(({ cola }) => cola)
  const { rows } = await environment.db.pool.query(
    'select name, heartbeat_seconds, retry_delay, retry_backoff from pgboss.queue where name = any($1)',
    [colas],
  )
  expect(rows).toHaveLength(colas.length)
  for (const row of rows) expect(row).toMatchObject({ heartbeat_seconds: 10, retry_delay: 1, retry_backoff: false })
})
