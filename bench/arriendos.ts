/**
 * Program that holds endpoint leases and sends nothing. It maintains the service's own leases
 * (`server/domain/webhooks/leases.ts`) as a worker does. Reads DATABASE_URL and PORT; its argument is the number of
 * endpoints. `/readyz` answers after the process has taken all the leases; every response body is the number of leases
 * that the process holds.
 */
import { PgBoss } from 'pg-boss'
import { openDb } from '../server/data/db.ts'
import { MAINTENANCE_SECONDS } from '../server/data/queue/job.ts'
import { Leases } from '../server/domain/webhooks/leases.ts'
import { processTimers } from '../server/platform/time/timers.ts'
import { createQueues } from '../server/startup/workers.ts'
import { servirHijo } from './arnes/hijo.ts'

const cuantos = Number(process.argv[2])
const db = openDb(process.env.DATABASE_URL ?? '', { conexiones: 5, ajustes: { synchronous_commit: 'off' } })
const boss = new PgBoss({
  db: { executeSql: (text, values) => db.pool.run(text, values) },
  ...{ schedule: false, supervise: false, monitorIntervalSeconds: MAINTENANCE_SECONDS, maintenanceIntervalSeconds: 60 },
})
boss.on('error', console.error)
await boss.start()
await createQueues(boss)
const arriendos = new Leases(boss, db, processTimers, { alTomar() {}, alPerder() {}, alNoTomar() {} })
setInterval(() => arriendos.beat(performance.now()).catch(console.error), 500)
setInterval(() => Promise.all([boss.supervise(), arriendos.rescue()]).catch(console.error), MAINTENANCE_SECONDS * 1_000)
for (let i = 0; i < cuantos; i++)
  arriendos.request({ comercio_id: '00000000-0000-7000-8000-000000000000', modo: 'test', webhook: `wh_${i}` }, false)
await arriendos.take()

servirHijo(
  (_req, res) => void res.end(`${arriendos.all().length}`),
  () => boss.stop({ graceful: false }),
)
