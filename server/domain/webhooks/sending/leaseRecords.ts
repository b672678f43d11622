import { type Db, statement } from '../../../data/db.ts'

// Rows for the processes that send webhooks: the processes that are alive, and the leases of each process. A lease is a
// job of pg-boss; its own heartbeat would need a write for each lease every few seconds.

/** Queue of leases. Each job is an endpoint that a process holds, or that waits for a process. */
export const LEASE_QUEUE = 'arriendos'
/**
 * Seconds for which a process, or a lease that is not recorded yet, stays alive without a heartbeat. After that, any
 * process may take its endpoints.
 */
export const PUMP_LIFE_SECONDS = 25

/** Claim of a lease in statements: the job, and the number of the claim. */
export interface LeaseRecord {
  id: string
  retryCount: number
}

/**
 * SQL condition that the claim in `a` is still held. Looks up each job by its key. A join that PostgreSQL planned while
 * the tables were small would compare every row with every row.
 */
const IS_HELD = `(select j.state = 'active' and j.retry_count = a.intento from pgboss.job j
     where j.name = '${LEASE_QUEUE}' and j.id = a.trabajo) is true`

/**
 * Records the heartbeat of a process in one statement, for any number of leases. Also deletes the records of leases
 * whose job no longer exists or has another holder.
 */
const BEAT = statement<{ bomba: string; fresh: boolean }, { alive: boolean; lost: LeaseRecord[] | null }>(
  'bombas.latir',
  'central',
  `with alta as (
     insert into webhook_bomba (id, latido_en) select :bomba::uuid, now() where :fresh::boolean returning id
   ), suya as (
     update webhook_bomba set latido_en = now() where id = :bomba::uuid and not :fresh::boolean returning id
   ), p as (
     delete from webhook_arriendo a where a.bomba = :bomba::uuid and not ${IS_HELD} returning a.trabajo, a.intento
   )
   select exists (select 1 from alta union all select 1 from suya) as alive,
     (select json_agg(json_build_object('id', trabajo, 'retryCount', intento)) from p) as lost`,
)

/**
 * Sends the heartbeat of a process.
 * @param fresh true if the process has no row yet
 * @returns the claims that the process no longer holds, and perhaps holds again by a later claim on the same job;
 * undefined if the process was declared dead and holds none
 */
export async function heartbeat(
  db: Pick<Db, 'query'>,
  bomba: string,
  fresh: boolean,
): Promise<LeaseRecord[] | undefined> {
  const [row] = await db.query(BEAT, { bomba, fresh })
  return row!.alive ? (row!.lost ?? []) : undefined
}

/** Records leases. Locks the row of the process, so that no other process declares it dead at the same time. */
const RECORD_LEASES = statement<
  { bomba: string; trabajos: readonly string[]; intentos: readonly number[] },
  { trabajo: string }
>(
  'bombas.anotar',
  'central',
  `with b as materialized (select id from webhook_bomba where id = :bomba::uuid for key share)
   insert into webhook_arriendo (trabajo, intento, bomba)
   select a.trabajo, a.intento, b.id from b, unnest(:trabajos::uuid[], :intentos::int[]) as a(trabajo, intento)
   where ${IS_HELD}
   on conflict (trabajo, intento) do update set bomba = excluded.bomba returning trabajo`,
)

/** Records leases of a living process; may be repeated. @returns the jobs of the leases that the process still holds */
export async function recordLeases(
  db: Pick<Db, 'query'>,
  bomba: string,
  tomas: readonly LeaseRecord[],
): Promise<string[]> {
  const rows = await db.query(RECORD_LEASES, {
    bomba,
    trabajos: tomas.map(({ id }) => id),
    intentos: tomas.map(({ retryCount }) => retryCount),
  })
  return rows.map(({ trabajo }) => trabajo)
}

/** Id of the row with the time of the latest check by any process. */
const CHECK_ROW_ID = '00000000-0000-0000-0000-000000000000'
/** Minimum seconds between two checks, over all processes. */
const CHECK_INTERVAL_S = 4

/** Takes the turn to check, if enough time has passed, and deletes dead processes. */
const BURY_DEAD = statement<object, { due: boolean }>(
  'bombas.enterrar',
  'central',
  `with t as (
     insert into webhook_bomba as b (id, latido_en) values ('${CHECK_ROW_ID}', now())
     on conflict (id) do update set latido_en = now() where b.latido_en < now() - interval '${CHECK_INTERVAL_S} seconds'
     returning id
   ), m as (
     delete from webhook_bomba where id <> '${CHECK_ROW_ID}' and latido_en < now() - interval '${PUMP_LIFE_SECONDS} seconds'
       and exists (select from t) returning id
   )
   select exists (select from t) as due`,
)

/** SQL array of the living processes. */
const LIVE_PUMPS = 'array(select id from webhook_bomba)'

/**
 * Finds leases without a holder. They are not recorded for a living process, and their own heartbeat has expired. A
 * claim that is not recorded yet has the heartbeat of its beginning. Versions without `webhook_bomba` renew the
 * heartbeats of their claims.
 */
const FIND_ORPHANS = statement<object, LeaseRecord>(
  'bombas.huerfanas',
  'central',
  `with s as (
     delete from webhook_arriendo where bomba <> all (${LIVE_PUMPS})
   )
   select id, retry_count as "retryCount" from pgboss.job
   where name = '${LEASE_QUEUE}' and state = 'active' and heartbeat_on < now() - interval '${PUMP_LIFE_SECONDS} seconds'
   except select trabajo, intento from webhook_arriendo where bomba = any (${LIVE_PUMPS})`,
)

/**
 * Finds leases without a holder, if no process has checked for some seconds. A statement of its own deletes dead
 * processes first. The statement after it therefore sees the processes whose heartbeat came in time.
 */
export async function findOrphans(db: Pick<Db, 'query'>): Promise<LeaseRecord[]> {
  const [turn] = await db.query(BURY_DEAD)
  return turn!.due ? db.query(FIND_ORPHANS) : []
}
