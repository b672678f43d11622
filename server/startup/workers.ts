import { setTimeout as sleep } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import { Feeder } from '../data/queue/feeder.ts'
import { MAINTENANCE_SECONDS } from '../data/queue/job.ts'
import { HEARTBEAT_SECONDS, RESCUE_INTERVAL_MS, Rescue } from '../data/queue/rescue.ts'
import { Rounds } from '../data/queue/round.ts'
import { SignalListener } from '../data/queue/signals.ts'
import type { JobDeps } from '../domain/deps.ts'
import type { RecentEvento } from '../domain/eventos/evento.ts'
import type { NotifyJobs } from '../domain/records/webhookKey.ts'
import { Pump } from '../domain/webhooks/sending/pump.ts'
import { translateError } from '../platform/errors.ts'
import { CLEANUPS, JOBS } from './jobs.ts'

/** Names of all queues. */
export const QUEUES: readonly string[] = JOBS.map(({ cola }) => cola)

/** Creates the queues, or updates their options. */
export async function createQueues(boss: PgBoss): Promise<void> {
  for (const { cola, opciones } of JOBS) {
    await boss.createQueue(cola, opciones)
    await boss.updateQueue(cola, opciones)
  }
}

/** Workers of a process: they feed the queue, do its jobs, send webhooks and clean up. */
export interface Workers {
  /** Starts a search for pending work at once. With endpoints, searches only for their webhook deliveries. */
  notify: NotifyJobs
  /** Passes events that this process has just committed to the webhook sender. */
  dispatch: (recentEventos: readonly RecentEvento[]) => void
  /** Reports whether the feeder has reached database and queue lately. */
  isHealthy: () => boolean
  /** Stops the workers. A second call waits for the same stop. */
  stop: () => Promise<void>
}

/** Default number of jobs that a worker claims at a time. */
const DEFAULT_CONCURRENCY = 1_000
/**
 * Shortest interval between two calls that wake a worker, in milliseconds. One run with many jobs costs less than many
 * runs with one job.
 */
const WAKE_SPACING_MS = 100
/**
 * Interval at which a worker looks for jobs without being woken, in seconds. This finds jobs that failed, and jobs that
 * another process fed and did not do. All other jobs are found earlier, because the feeder wakes the worker when it
 * feeds them.
 */
const POLL_SECONDS = 60
/** Longest interval between two runs of the queue's maintenance at rest, in milliseconds. */
const CALM_UPKEEP_MS = 30_000
/** Shortest and longest pause before a job runs again after the database failed it, in milliseconds. */
const RETRY_MS = 500
const MAX_RETRY_MS = 4_000
/** Longest wait of a stop for the jobs under way, in milliseconds. */
const STOP_DEADLINE_MS = 5_000

/**
 * Starts the workers, and the feeder that turns pending rows into jobs. Each round also repairs rows that a crash left
 * unfinished.
 * @param databaseUrl database on which this process listens for signals
 */
export async function startWorkers(
  boss: PgBoss,
  parts: Omit<JobDeps, 'notifyJobs' | 'wake' | 'announceWork'>,
  databaseUrl: string,
): Promise<Workers> {
  const announce: NotifyJobs = (webhooks) => {
    if (webhooks) return pump.look(webhooks)
    feeder.notify()
    pump.wake()
  }
  const wakers = new Map<string, () => void>()
  const deps: JobDeps = {
    ...parts,
    notifyJobs: announce,
    wake: (queue) => wakers.get(queue)?.(),
    announceWork: () => upkeep.hurry(),
  }
  const logFailure = (err: unknown) => deps.log.warn({ err }, 'periodic task failed')
  const pump = new Pump(boss, deps)
  const feeder = new Feeder(boss, JOBS, deps)
  const upkeep = new Rounds(
    () => Promise.all([boss.supervise(), pump.rescue()]),
    { busyInterval: MAINTENANCE_SECONDS * 1_000, calmInterval: CALM_UPKEEP_MS },
    logFailure,
  )
  const rescue = new Rescue(boss, deps, QUEUES)
  const rescueRounds = new Rounds(() => rescue.look(), { busyInterval: RESCUE_INTERVAL_MS }, logFailure)
  const cleanupRounds = CLEANUPS.map(
    ({ intervalSeconds, perform }) =>
      new Rounds(() => perform(deps), { busyInterval: intervalSeconds * 1_000 }, logFailure),
  )
  await serveQueues(boss, deps, wakers)
  const listener = new SignalListener(databaseUrl, deps.log, (webhooks) =>
    webhooks ? pump.look(webhooks, true) : announce(),
  )
  feeder.notify()
  const stopWorkers = async () => {
    const rounds = [upkeep, rescueRounds, ...cleanupRounds]
    await Promise.all([...rounds.map((round) => round.stop()), feeder.stop(), listener.close()])
    await pump.stop()
    await boss.stop({ graceful: true, timeout: STOP_DEADLINE_MS })
  }
  let stopping: Promise<void> | undefined
  return {
    notify: announce,
    dispatch: (recentEventos) => pump.receive(recentEventos),
    isHealthy: () => feeder.isHealthy(),
    stop() {
      stopping ??= stopWorkers()
      return stopping
    },
  }
}

/**
 * Starts a worker for each queue.
 * @param wakers receives, by queue, the function that wakes the queue's worker
 */
async function serveQueues(boss: PgBoss, deps: JobDeps, wakers: Map<string, () => void>): Promise<void> {
  for (const { cola, concurrency = DEFAULT_CONCURRENCY, run } of JOBS) {
    const options = {
      batchSize: concurrency,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: POLL_SECONDS,
      heartbeatRefreshSeconds: HEARTBEAT_SECONDS,
    }
    const id = await boss.work<object>(cola, options, async (jobs) => {
      const startedAt = performance.now()
      await retryUntilDone(() => run(deps, jobs), jobs[0]!.signal)
      deps.log.info({ cola, trabajos: jobs.length, ms: Math.round(performance.now() - startedAt) }, 'job')
    })
    wakers.set(
      cola,
      spaceOut(WAKE_SPACING_MS, () => boss.notifyWorker(id)),
    )
  }
}

/**
 * Repeats the work while the database is unreachable or refuses writes. Meanwhile pg-boss cannot record a failed job,
 * or would count failures that the job did not cause.
 */
async function retryUntilDone(perform: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let retryDelay = RETRY_MS; ; retryDelay = Math.min(2 * retryDelay, MAX_RETRY_MS)) {
    try {
      return await perform()
    } catch (err) {
      if (signal.aborted || translateError(err).codigo !== 'no_disponible') throw err
      await sleep(retryDelay)
    }
  }
}

/**
 * Wraps a function so that it runs once in `ms` milliseconds at most. Calls that come too soon cause a single run at
 * the end of the interval.
 */
function spaceOut(ms: number, perform: () => void): () => void {
  let nextFreeAt = 0
  let isScheduled = false
  const callNow = () => {
    isScheduled = false
    nextFreeAt = performance.now() + ms
    perform()
  }
  return () => {
    if (isScheduled) return
    isScheduled = true
    setTimeout(callNow, Math.max(0, nextFreeAt - performance.now())).unref()
  }
}
