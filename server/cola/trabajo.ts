import type { JobInsert, PgBoss, QueueOptions } from 'pg-boss'
import type { DepsDeTrabajo } from '../deps.ts'

/**
 * A kind of background work. The rows of pending work are the truth; a job is only what wakes a worker for one of them,
 * so losing the queue loses nothing and a job that runs twice does nothing the second time.
 */
export type Trabajo = {
  cola: string
  opciones: QueueOptions
  /** A table of its own: for queues so busy that their statistics would mislead the others' plans. */
  aparte?: boolean
  /** Jobs of the rows that wait, `cuantas` rows at most. A job's id is its row's, or its row's and step's. */
  pendientes: (
    deps: DepsDeTrabajo,
    cuantas: number,
  ) => Promise<JobInsert[] | { trabajos: JobInsert[]; hayMas: boolean }>
} & (
  | {
      /** Does the work of those rows; throws to be tried again. */
      ejecutar: (deps: DepsDeTrabajo, trabajos: readonly { id: string; data: object }[]) => Promise<void>
    }
  | {
      /** Takes its jobs itself. */
      bombear: (boss: PgBoss, cola: string, deps: DepsDeTrabajo, alimentacion: Alimentacion) => Bomba
    }
)

/** What is done every so many seconds without anybody's row asking for it. */
export interface Limpieza {
  cada: number
  hacer: (deps: DepsDeTrabajo) => Promise<void>
}

/** How a pump speaks with the feeder. */
export interface Alimentacion {
  /** There may be room for more of what waits; so many milliseconds are soon enough. */
  avisar: (ms?: number) => void
  /** These jobs were given back: they may be fed again. */
  olvidar: (ids: readonly string[]) => void
}

/** What takes the jobs of a queue itself. */
export interface Bomba {
  /** There are new jobs. */
  despertar: () => void
  detener: () => Promise<void>
}
