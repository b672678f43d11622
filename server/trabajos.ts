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
  /** Does the work of one row; throws to be tried again. */
  ejecutar: (deps: DepsDeTrabajo, id: string) => Promise<void>
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
  detener: () => Promise<void>
}

/** Rows fed to the queue at a time, and how often the feeder looks by itself, in milliseconds. */
const LOTE = 500
const RONDA = 1_000
/** How long a stop waits for the jobs under way, in milliseconds. */
const PLAZO = 5_000

/** Starts the workers and the feeder that turns pending rows into jobs, and repairs once a second what a crash left. */
export async function iniciarTrabajadores(boss: PgBoss, deps: DepsDeTrabajo): Promise<Trabajadores> {
  for (const { cola, opciones } of TRABAJOS) {
    await boss.createQueue(cola, opciones)
    await boss.updateQueue(cola, opciones)
  }
  for (const { cola, ejecutar } of TRABAJOS) {
    await boss.work(cola, { batchSize: 50, pollingIntervalSeconds: 0.5 }, async (trabajos) => {
      // One by one, so that a failing row doesn't fail its neighbours' jobs: each settles for itself.
      await Promise.all(trabajos.map(({ id }) => ejecutarUno(boss, deps, cola, ejecutar, id)))
    })
  }
  let temporizador: NodeJS.Timeout | undefined
  let ronda: Promise<void> | undefined
  let otra = false
  let detenido = false

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
    async detener() {
      detenido = true
      clearTimeout(temporizador)
      await ronda
      await boss.stop({ graceful: true, timeout: PLAZO })
    },
  }
}

async function ejecutarUno(boss: PgBoss, deps: DepsDeTrabajo, cola: string, ejecutar: Trabajo['ejecutar'], id: string) {
  const inicio = performance.now()
  try {
    await ejecutar(deps, id)
    deps.log.info({ cola, trabajo: id, ms: Math.round(performance.now() - inicio) }, 'job')
  } catch (err) {
    deps.log.error({ cola, trabajo: id, err }, 'job')
    await boss.fail(cola, id, { mensaje: String(err) })
  }
}
