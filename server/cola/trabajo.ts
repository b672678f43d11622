import type { JobInsert, QueueOptions } from 'pg-boss'
import type { DepsDeTrabajo } from '../deps.ts'

/** Interval between runs of pg-boss's own maintenance while there is work, in seconds: it ends lapsed leases and deletes finished jobs. */
export const CUIDADO_S = 5

/**
 * A kind of background work. The rows of pending work are the truth; a job is only what wakes a worker for one of them,
 * so losing the queue loses nothing and a job that runs twice does nothing the second time.
 */
export type Trabajo = {
  cola: string
  opciones: QueueOptions
  /** A table of its own: for queues so busy that their statistics would mislead the others' plans. */
  aparte?: boolean
  /** Jobs that a worker claims at a time; `LOTE` unless it is given. The jobs of a dead worker wait for the claim of another. */
  aLaVez?: number
  /** pg-boss's rule of how many jobs of one key there may be; any number, unless it is given. */
  politica?: 'exclusive'
  /**
   * Jobs of the rows that wait, `cuantas` rows at most. A job's id is its row's, or its row's and step's. Without it,
   * somebody else makes the jobs.
   */
  pendientes?: (deps: DepsDeTrabajo, cuantas: number) => Promise<JobInsert[]>
  /** Brings forward, after the clock stepped back, what waits for an instant that it was put to by the clock ahead. */
  adelantar?: (deps: DepsDeTrabajo) => Promise<unknown>
  /**
   * Does the work of those rows; throws to be tried again. Another worker may do the same work at the same time, if this
   * process is silent for too long: each step must change nothing the second time. Without it, other code takes the jobs.
   */
  ejecutar?: (deps: DepsDeTrabajo, trabajos: readonly Tomado[]) => Promise<void>
}

/** A job that a worker holds. */
export interface Tomado {
  id: string
  data: object
  /** Aborts when the worker lost the job: another one may hold it. */
  signal?: AbortSignal
}

/** What is done every so many seconds without anybody's row asking for it. */
export interface Limpieza {
  cada: number
  /** Gives `true` where there is more than what it did, to go on sooner. */
  hacer: (deps: DepsDeTrabajo) => Promise<unknown>
}
