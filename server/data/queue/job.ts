import type { JobInsert, QueueOptions } from 'pg-boss'

/**
 * Interval between runs of pg-boss's own maintenance while there is work, in seconds. The maintenance ends lapsed
 * jobs and deletes finished jobs.
 */
export const MAINTENANCE_SECONDS = 5

/**
 * Kind of background work. The rows of pending work are the source of truth; a job only wakes a worker for one row.
 * Losing the queue therefore loses nothing, and a job that runs twice does nothing the second time.
 */
export type JobKind<D> = {
  cola: string
  opciones: QueueOptions
  /**
   * Maximum number of jobs that a worker claims at a time. Default: `DEFAULT_CONCURRENCY` of server/startup/workers.ts. The jobs of a
   * dead worker wait until another worker claims them.
   */
  concurrency?: number
  /**
   * Returns jobs for at most `count` pending rows. A job has the id of its row, or of the row's next step. Undefined
   * if other code makes the jobs of this kind.
   */
  pendientes?: (deps: D, count: number) => Promise<JobInsert[]>
  /** Makes rows due earlier whose due time was set by a clock that was ahead. Called after the clock stepped back. */
  advance?: (deps: D) => Promise<unknown>
  /**
   * Does the work of the rows; throws to be tried again. If this process is silent for too long, another worker may do
   * the same work at the same time. Doing the work a second time must therefore change nothing.
   */
  run: (deps: D, jobs: readonly HeldJob[]) => Promise<void>
}

/** Job that a worker holds. */
export interface HeldJob {
  id: string
  data: object
  /** Aborts when the worker has lost the job. Another worker may then hold it. */
  signal?: AbortSignal
}

/** Work that runs every `intervalSeconds` seconds, not because of a pending row. */
export interface Cleanup<D> {
  intervalSeconds: number
  /** Does the work. Returns `true` if some work is left; the next run then comes sooner. */
  perform: (deps: D) => Promise<unknown>
}
