import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { type Db, openDb } from '../data/db.ts'
import { MAINTENANCE_SECONDS } from '../data/queue/job.ts'
import { SignalSender } from '../data/queue/signals.ts'
import type { Deps } from '../domain/deps.ts'
import type { Config } from '../platform/config/config.ts'
import { processTimers } from '../platform/time/timers.ts'
import type { Lifetime } from './lifetime.ts'
import type { Metrics } from './metrics.ts'
import type { DataRoute } from './resources.ts'
import type { Teardown } from './teardown.ts'

interface WorkerInputs {
  databaseUrl: string
  via: DataRoute
  lifetime: Lifetime
  metrics: Metrics
  /** Mail server; undefined: mails go to the local mailbox, or wait. */
  correo: Config['correo']
  /** Source of random numbers from 0 to 1, `Math.random` by default. Only tests replace it. */
  random?: () => number
}

/** Opens the queue and starts its workers. */
export async function openWorkers(
  deps: Deps,
  { databaseUrl, via, lifetime, metrics, correo, random = Math.random }: WorkerInputs,
  teardown: Teardown,
): Promise<void> {
  // These modules are loaded only here, so that a process without workers does not need their memory and time.
  const [
    { createQueues, QUEUES, startWorkers },
    { createSender },
    { createWhatsappClient },
    { createShortLinkResolver },
  ] = await Promise.all([
    import('./workers.ts'),
    import('../domain/webhooks/sending/sender.ts'),
    import('../domain/mensajeria/whatsapp.ts'),
    import('../platform/maps/shortLinks.ts'),
  ])
  const noWaitDb = openNoWaitDb(via, lifetime, teardown)
  const { pool } = noWaitDb
  const boss = await openQueue(deps, { databaseUrl, pool, backend: via.engine, createQueues })
  const { resolver } = deps.destinations
  const { mensajeria } = deps.settings
  const whatsappClient = mensajeria.tipo === 'whatsapp' ? createWhatsappClient(mensajeria) : undefined
  // Only a service that sends mail loads the mail client.
  const mailClient = correo && (await import('../platform/mail/smtp.ts')).createMailClient(correo)
  const shortLinks = createShortLinkResolver({ resolver })
  teardown.add(() => Promise.all([whatsappClient?.close(), shortLinks.close()]))
  const sender = createSender({ resolver })
  const { send } = new SignalSender(pool, deps.log)
  const workers = await startWorkers(
    boss,
    {
      ...deps,
      db: deps.db.asRole('guias_trabajos'),
      noWaitDb,
      signalWebhooks: send,
      random,
      timers: processTimers,
      sender,
      metrics,
      whatsappClient,
      mailClient,
      shortLinks,
    },
    databaseUrl,
  )
  teardown.add(() => workers.stop())
  metrics.observeConnections('cola', pool)
  // The gauges have connections of their own, so that requests that wait for a connection do not delay the metrics.
  metrics.observe({ db: noWaitDb, clock: deps.clock, colas: QUEUES, backup: deps.settings.backup })
  lifetime.workers = workers
}

/** Opens the sender of signals that wake the workers of other processes. Only a process without workers needs it. */
export function openSignalSender(
  { log }: Pick<Deps, 'log'>,
  { via, lifetime }: Pick<WorkerInputs, 'via' | 'lifetime'>,
  teardown: Teardown,
): void {
  lifetime.sender = new SignalSender(openNoWaitDb(via, lifetime, teardown, 1).pool, log)
}

/**
 * Opens connections whose commits do not wait for the disk. A crash may lose the last jobs and results of deliveries:
 * jobs are made again from their rows, and deliveries are sent again.
 */
function openNoWaitDb(
  { url, pooler, shards }: DataRoute,
  { onLoss }: Lifetime,
  teardown: Teardown,
  connections = 5,
): Db {
  const db = openDb(url, {
    pooler,
    shards,
    connections,
    nombre: 'guias cola',
    role: 'guias_trabajos',
    settings: { synchronous_commit: 'off' },
    onFailure: onLoss,
  })
  teardown.add(() => db.close())
  return db
}

/**
 * Lock that a process holds, until its session ends, while it creates the queue's tables. Without the lock, one of two
 * processes that start together on a new database would fail.
 */
const TABLES_LOCK = "select pg_advisory_lock(hashtext('pgboss.tablas'))"

/**
 * Grants `guias_trabajos` the privileges that workers need on the queue's tables. The database's owner owns these
 * tables, like the service's own.
 */
const GRANTS = `do $$ begin
    if exists (select from pg_class where relnamespace = 'pgboss'::regnamespace and relkind in ('r', 'p')
      and not has_table_privilege('guias_trabajos', oid, 'DELETE'))
    then
      grant usage on schema pgboss to guias_trabajos;
      if current_setting('server_version_num')::int >= 170000 then
        grant maintain on all tables in schema pgboss to guias_trabajos; -- pg-boss rebuilds bloated indexes
      end if;
      grant select, insert, update, delete on all tables in schema pgboss to guias_trabajos;
    end if;
  end $$`

interface QueueInputs {
  databaseUrl: string
  pool: Db['pool']
  backend: DataRoute['engine']
  createQueues: (boss: PgBoss) => Promise<void>
}

async function openQueue({ log }: Deps, { databaseUrl, pool, backend, createQueues }: QueueInputs): Promise<PgBoss> {
  // The database's owner creates and changes the queue's tables, as migrations do with the other tables.
  const owner = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000, query_timeout: 8_000 })
  let runSql = (text: string, values?: unknown[]): Promise<unknown> => owner.query(text, values)
  const boss = new PgBoss({
    // pg-boss's own pool would wait for ever for a half-open connection.
    db: { executeSql: (text, values) => runSql(text, values) as Promise<pg.QueryResult> },
    backend,
    schedule: false,
    // pg-boss's own maintenance is off, because `server/startup/workers.ts` calls `boss.supervise()`. Its calls are
    // less frequent while the queue is idle.
    supervise: false,
    monitorIntervalSeconds: MAINTENANCE_SECONDS,
    maintenanceIntervalSeconds: 60,
  })
  boss.on('error', (err) => log.warn({ err }, 'pg-boss error'))
  try {
    await owner.connect()
    await owner.query(TABLES_LOCK)
    await boss.start()
    await createQueues(boss)
    await owner.query(GRANTS)
  } finally {
    await owner.end()
  }
  runSql = (text, values) => pool.run(text, values)
  return boss
}
