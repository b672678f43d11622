import type { JobInsert, QueueOptions } from 'pg-boss'
import type { DepsDeTrabajo } from '../deps.ts'

/** How often the queue is looked after while there is work, in seconds: a dead worker's claims lapse, what is over goes. */
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
  /** pg-boss's rule of how many jobs of one key there may be; any number, unless it is given. */
  politica?: 'exclusive'
  /**
   * Jobs of the rows that wait, `cuantas` rows at most. A job's id is its row's, or its row's and step's. Without it,
   * somebody else makes the jobs.
   */
  pendientes?: (deps: DepsDeTrabajo, cuantas: number) => Promise<JobInsert[]>
  /** Brings forward, after the clock stepped back, what waits for an instant that it was put to by the clock ahead. */
  adelantar?: (deps: DepsDeTrabajo) => Promise<unknown>
  /** Does the work of those rows; throws to be tried again. Without it, somebody else takes the jobs. */
  ejecutar?: (deps: DepsDeTrabajo, trabajos: readonly { id: string; data: object }[]) => Promise<void>
}

/** What is done every so many seconds without anybody's row asking for it. */
export interface Limpieza {
  cada: number
  /** Gives `true` where there is more than what it did, to go on sooner. */
  hacer: (deps: DepsDeTrabajo) => Promise<unknown>
}
