import type { PgBoss, QueueOptions } from 'pg-boss'
import type { Db } from './db.ts'
import { traducirError } from './errores.ts'
import type { Log } from './log.ts'
import { entregarAlBuzon, pendientesDeBuzon } from './mensajeria/mensaje.ts'

/** What a job may use. */
export interface DepsDeTrabajo {
  db: Db
  log: Log
  reloj: () => Date
}

/**
 * A kind of background work. The rows of pending work are the truth; a job is only what wakes a worker for one of them,
 * so losing the queue loses nothing and a job that runs twice does nothing the second time.
 */
export interface Trabajo {
  cola: string
  opciones: QueueOptions
  /** Ids of the rows that wait, at most `cuantas`. A job's id is its row's id. */
  pendientes: (deps: DepsDeTrabajo, cuantas: number) => Promise<string[]>
  /** Does the work of those rows, all or nothing; throws to be tried again. */
  ejecutar: (deps: DepsDeTrabajo, ids: readonly string[]) => Promise<void>
}

/** Every background job of the service. */
export const TRABAJOS: readonly Trabajo[] = [
  {
    cola: 'mensajes',
    opciones: {
      retryLimit: 5,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 60,
      expireInSeconds: 30,
      // A finished or given-up job makes room soon: if its row still waits, the feeder makes a new one.
      deleteAfterSeconds: 60,
    },
    pendientes: pendientesDeBuzon,
    ejecutar: entregarAlBuzon,
  },
]

export interface Trabajadores {
  /** Looks for pending rows now instead of at the next round. */
  avisar: () => void
  /** Whether the feeder got through to database and queue lately. */
  late: () => boolean
  detener: () => Promise<void>
}

/** Rows fed to the queue, and done, at a time; and how often the feeder looks by itself, in milliseconds. */
const LOTE = 1_000
const RONDA = 500
/** Without a good round for so long, in milliseconds, the queue is not well. */
const SILENCIO = 20_000
/** How long a stop waits for the jobs under way, in milliseconds. */
const PLAZO = 5_000

/** Starts the workers and the feeder that turns pending rows into jobs, and repairs, at every round, what a crash left. */
export async function iniciarTrabajadores(boss: PgBoss, deps: DepsDeTrabajo): Promise<Trabajadores> {
  for (const { cola, opciones } of TRABAJOS) {
    await boss.createQueue(cola, opciones)
    await boss.updateQueue(cola, opciones)
  }
  for (const { cola, ejecutar } of TRABAJOS) {
    await boss.work(cola, { batchSize: LOTE, pollingIntervalSeconds: 0.5 }, async (trabajos) => {
      const inicio = performance.now()
      await ejecutar(
        deps,
        trabajos.map(({ id }) => id),
      )
      deps.log.info({ cola, filas: trabajos.length, ms: Math.round(performance.now() - inicio) }, 'job')
    })
  }
  let temporizador: NodeJS.Timeout | undefined
  let ronda: Promise<void> | undefined
  let otra = false
  let detenido = false
  let buena = performance.now()

  const alimentar = async () => {
    for (const { cola, pendientes } of TRABAJOS) {
      const ids = await pendientes(deps, LOTE)
      if (ids.length > 0)
        await boss.insert(
          cola,
          ids.map((id) => ({ id, data: {} })),
        )
    }
  }
  const girar = () => {
    clearTimeout(temporizador)
    ronda = alimentar()
      .then(() => {
        buena = performance.now()
      })
      .catch((err) => deps.log[traducirError(err).codigo === 'no_disponible' ? 'warn' : 'error']({ err }, 'feeder'))
      .finally(() => {
        ronda = undefined
        if (detenido) return
        temporizador = setTimeout(girar, otra ? 0 : RONDA)
        otra = false
      })
  }
  girar()
  return {
    avisar() {
      if (ronda) otra = true
      else if (!detenido) {
        clearTimeout(temporizador)
        temporizador = setTimeout(girar, 0)
      }
    },
    late: () => performance.now() - buena < SILENCIO,
    async detener() {
      detenido = true
      clearTimeout(temporizador)
      // A round that hangs on a dead connection must not keep the process: its rows are found again by the next one.
      await Promise.race([ronda, new Promise((resolve) => setTimeout(resolve, PLAZO).unref())])
      await boss.stop({ graceful: true, timeout: PLAZO })
    },
  }
}
