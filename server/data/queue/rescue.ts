import type { PgBoss } from 'pg-boss'
import type { Log } from '../../platform/log.ts'
import { type Db, statement } from '../db.ts'

/** Interval between heartbeats of the jobs that a worker holds, in seconds. */
export const HEARTBEAT_SECONDS = 1
/** Interval between two looks at the heartbeats, in milliseconds. */
export const RESCUE_INTERVAL_MS = 2_000
/** Age from which a heartbeat counts as silent, in seconds of the database's clock. */
const SILENCE_S = 3
/** Delay before a job that failed, or whose worker died, may be claimed again, in seconds. */
export const RETRY_DELAY_SECONDS = 1

/** Job of a worker whose heartbeat is too old. */
interface SilentJob {
  cola: string
  id: string
  retry_count: number
  heartbeat: string
}

const SILENT_JOBS = statement<{ colas: readonly string[] }, SilentJob>(
  'queue.silentJobs',
  'central',
  `select name as cola, id, retry_count, heartbeat_on::text as heartbeat from pgboss.job
   where name = any(:colas::text[]) and state = 'active' and heartbeat_seconds is not null
     and heartbeat_on < now() - interval '${SILENCE_S} seconds'`,
)

interface RescueDeps {
  noWaitDb: Db
  log: Log
  wake: (queue: string) => void
}

/**
 * Gives the jobs of dead workers back to their queues. pg-boss allows heartbeat intervals of 10 s at least, and looks
 * for lapsed heartbeats every 5 s. With its retry delay, a dead worker's jobs would wait 17 s. With this class, the
 * jobs wait at most 8 s: 3 s of silence, two looks, and the delay.
 *
 * A job is taken back when two looks see the same old heartbeat. One look is not enough. After an outage of the
 * database every heartbeat is old, and living workers renew theirs before the second look.
 */
export class Rescue {
  readonly #boss: PgBoss
  readonly #deps: RescueDeps
  readonly #queues: readonly string[]
  /**
   * Heartbeats that the previous look found too old, by the job's id. A job with the same heartbeat at the next look
   * has lost its worker.
   */
  #seenHeartbeats = new Map<string, string>()

  /** @param queues queues whose workers send heartbeats every {@link HEARTBEAT_SECONDS} seconds */
  constructor(boss: PgBoss, deps: RescueDeps, queues: readonly string[]) {
    this.#boss = boss
    this.#deps = deps
    this.#queues = queues
  }

  async look(): Promise<void> {
    const silentJobs = await this.#deps.noWaitDb.query(SILENT_JOBS, { colas: this.#queues })
    const deadJobs = silentJobs.filter(({ id, heartbeat }) => this.#seenHeartbeats.get(id) === heartbeat)
    this.#seenHeartbeats = new Map(silentJobs.map(({ id, heartbeat }) => [id, heartbeat]))
    for (const [queue, jobs] of Map.groupBy(deadJobs, (job) => job.cola)) await this.#giveBack(queue, jobs)
  }

  /**
   * Gives jobs back to their queue. pg-boss compares the number of the attempt. A job that its worker has settled
   * meanwhile, or that another worker holds, stays as it is.
   */
  async #giveBack(cola: string, jobs: readonly SilentJob[]): Promise<void> {
    const intentos = jobs.map(({ id, retry_count: retryCount }) => ({ id, retryCount }))
    await this.#boss.fail(cola, intentos, { message: 'worker lost' })
    this.#deps.log.warn({ cola, trabajos: jobs.length }, 'jobs of a lost worker')
    setTimeout(() => this.#deps.wake(cola), RETRY_DELAY_SECONDS * 1_000).unref()
  }
}
