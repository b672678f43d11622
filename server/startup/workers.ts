import { setTimeout as dormir } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import { Feeder } from '../data/queue/feeder.ts'
import { MAINTENANCE_SECONDS } from '../data/queue/job.ts'
import { HEARTBEAT_SECONDS, RESCUE_INTERVAL, Rescue } from '../data/queue/rescue.ts'
import { Rounds } from '../data/queue/round.ts'
import { SignalListener } from '../data/queue/signals.ts'
import type { DepsDeTrabajo } from '../domain/deps.ts'
import type { EventoRecien } from '../domain/eventos/evento.ts'
import { Pump } from '../domain/webhooks/pump.ts'
import type { AvisarTrabajo } from '../domain/webhooks/webhook.ts'
import { translateError } from '../platform/errors.ts'
import { CLEANUPS, JOBS } from './jobs.ts'

/** Names of all queues. */
export const QUEUES: readonly string[] = JOBS.map(({ cola }) => cola)

/** Creates the queues, or updates their options. */
export async function createQueues(boss: PgBoss): Promise<void> {
  for (const { cola, opciones, politica, aparte = false } of JOBS) {
    await boss.createQueue(cola, { ...opciones, partition: aparte, ...(politica ? { policy: politica } : {}) })
    await boss.updateQueue(cola, opciones)
  }
}

/** Workers of a process: they feed the queue, do its jobs, send webhooks and clean up. */
export interface Workers {
  /** Looks at once for pending rows, or for deliveries to these endpoints. */
  notify: AvisarTrabajo
  /** Passes events that this process has just committed to the webhook sender. */
  dispatch: (recientes: readonly EventoRecien[]) => void
  /** Reports whether the feeder has reached database and queue lately. */
  isHealthy: () => boolean
  /** Stops the workers. A second call waits for the same stop. */
  stop: () => Promise<void>
}

/** Default number of jobs that a worker claims at a time. */
const LOTE = 1_000
/**
 * Shortest interval between two calls that wake a worker, in milliseconds. One run with many jobs costs less than many
 * runs with one job.
 */
const ESPACIO = 100
/**
 * Interval at which a worker looks for jobs without being woken, in seconds. This finds jobs that failed, and jobs that
 * another process fed and did not do. All other jobs are found earlier, because the feeder wakes the worker when it
 * feeds them.
 */
const SONDEO = 60
/** Longest interval between two runs of the queue's maintenance at rest, in milliseconds. */
const CUIDADO_EN_CALMA = 30_000
/** Shortest and longest pause before a job runs again after the database failed it, in milliseconds. */
const OTRA_VEZ = 500
const OTRA_VEZ_MAXIMA = 4_000
/** Longest wait of a stop for the jobs under way, in milliseconds. */
const PLAZO = 5_000

/**
 * Starts the workers, and the feeder that turns pending rows into jobs. Each round also repairs rows that a crash left
 * unfinished.
 * @param databaseUrl database on which this process listens for signals
 */
export async function startWorkers(
  boss: PgBoss,
  partes: Omit<DepsDeTrabajo, 'avisarTrabajo' | 'despertar' | 'hayTrabajo'>,
  databaseUrl: string,
): Promise<Workers> {
  const avisar: AvisarTrabajo = (webhooks) => {
    if (webhooks) return bomba.look(webhooks)
    alimentador.notify()
    bomba.wake()
  }
  const despertadores = new Map<string, () => void>()
  const deps: DepsDeTrabajo = {
    ...partes,
    avisarTrabajo: avisar,
    despertar: (cola) => despertadores.get(cola)?.(),
    hayTrabajo: () => cuidado.hurry(),
  }
  const fallo = (err: unknown) => deps.log.warn({ err }, 'periodic task failed')
  const bomba = new Pump(boss, deps)
  const alimentador = new Feeder(boss, JOBS, deps)
  const cuidar = async () => {
    await Promise.all([boss.supervise(), bomba.rescue()])
    bomba.take()
  }
  const cuidado = new Rounds(cuidar, { prisa: MAINTENANCE_SECONDS * 1_000, calma: CUIDADO_EN_CALMA }, fallo)
  const deFilas = JOBS.filter(({ ejecutar }) => ejecutar).map(({ cola }) => cola)
  const rescate = new Rescue(boss, deps, deFilas)
  const rescates = new Rounds(() => rescate.look(), { prisa: RESCUE_INTERVAL }, fallo)
  const limpieza = CLEANUPS.map(({ cada, hacer }) => new Rounds(() => hacer(deps), { prisa: cada * 1_000 }, fallo))
  await atenderColas(boss, deps, despertadores)
  const oyente = new SignalListener(databaseUrl, deps.log, (webhooks) =>
    webhooks ? bomba.look(webhooks, true) : avisar(),
  )
  alimentador.notify()
  const parar = async () => {
    const rondas = [cuidado, rescates, ...limpieza]
    await Promise.all([...rondas.map((ronda) => ronda.stop()), alimentador.stop(), oyente.close()])
    await bomba.stop()
    await boss.stop({ graceful: true, timeout: PLAZO })
  }
  let parada: Promise<void> | undefined
  return {
    notify: avisar,
    dispatch: (recientes) => bomba.receive(recientes),
    isHealthy: () => alimentador.isHealthy(),
    stop() {
      parada ??= parar()
      return parada
    },
  }
}

/**
 * Starts a worker for each queue whose job kind has a function `ejecutar`.
 * @param despertadores receives, by queue, the function that wakes the queue's worker
 */
async function atenderColas(boss: PgBoss, deps: DepsDeTrabajo, despertadores: Map<string, () => void>): Promise<void> {
  for (const { cola, aLaVez = LOTE, ejecutar } of JOBS) {
    if (!ejecutar) continue
    const opciones = {
      batchSize: aLaVez,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: SONDEO,
      heartbeatRefreshSeconds: HEARTBEAT_SECONDS,
    }
    const id = await boss.work<object>(cola, opciones, async (trabajos) => {
      const inicio = performance.now()
      await insistir(() => ejecutar(deps, trabajos), trabajos[0]!.signal)
      deps.log.info({ cola, filas: trabajos.length, ms: Math.round(performance.now() - inicio) }, 'job')
    })
    despertadores.set(
      cola,
      espaciar(ESPACIO, () => boss.notifyWorker(id)),
    )
  }
}

/**
 * Repeats the work while the database is unreachable or refuses writes. Meanwhile pg-boss cannot record a failed job,
 * or would count failures that the job did not cause.
 */
async function insistir(hacer: () => Promise<void>, senal: AbortSignal): Promise<void> {
  for (let espera = OTRA_VEZ; ; espera = Math.min(2 * espera, OTRA_VEZ_MAXIMA)) {
    try {
      return await hacer()
    } catch (err) {
      if (senal.aborted || translateError(err).codigo !== 'no_disponible') throw err
      await dormir(espera)
    }
  }
}

/**
 * Wraps a function so that it runs once in `ms` milliseconds at most. Calls that come too soon cause a single run at
 * the end of the interval.
 */
function espaciar(ms: number, hacer: () => void): () => void {
  let libre = 0
  let citado = false
  const llamar = () => {
    citado = false
    libre = performance.now() + ms
    hacer()
  }
  return () => {
    if (citado) return
    citado = true
    setTimeout(llamar, Math.max(0, libre - performance.now())).unref()
  }
}
