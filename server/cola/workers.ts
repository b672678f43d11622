import { setTimeout as dormir } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import type { DepsDeTrabajo } from '../deps.ts'
import { traducirError } from '../errores.ts'
import type { EventoRecien } from '../eventos/evento.ts'
import { Bomba, LIMPIEZA, TRABAJOS } from '../trabajos.ts'
import type { AvisarTrabajo } from '../webhooks/webhook.ts'
import { Alimentador } from './alimentador.ts'
import { LATIDO_S, Rescate, RONDA_DE_RESCATE } from './rescate.ts'
import { Ronda } from './ronda.ts'
import { Oyente } from './senales.ts'
import { CUIDADO_S } from './trabajo.ts'

/** Makes the queues, or brings their options up to date. */
export async function crearColas(boss: PgBoss): Promise<void> {
  for (const { cola, opciones, politica, aparte = false } of TRABAJOS) {
    await boss.createQueue(cola, { ...opciones, partition: aparte, ...(politica ? { policy: politica } : {}) })
    await boss.updateQueue(cola, opciones)
  }
}

/** The workers of a process: what feeds the queue, does its jobs, sends webhooks and keeps house. */
export interface Workers {
  /** Looks now for pending rows, or for deliveries to these endpoints. */
  avisar: AvisarTrabajo
  /** Sends the webhooks of what this process has just committed. */
  despachar: (recientes: readonly EventoRecien[]) => void
  /** Whether the feeder got through to database and queue lately. */
  late: () => boolean
  /** Calling it again waits for the same stop. */
  detener: () => Promise<void>
}

/** Jobs that a worker claims at a time, unless its queue says otherwise. */
const LOTE = 1_000
/** Milliseconds between two times that a worker is told of new jobs: one round of many jobs costs less than many of one. */
const ESPACIO = 100
/**
 * Seconds after which a worker looks for jobs of which it was not told. What another process fed and did not do, and what
 * failed, is fed again as long as its row waits, and then the worker is told.
 */
const SONDEO = 60
/** Milliseconds between two looks after the queue at rest. */
const CUIDADO_EN_CALMA = 30_000
/** Milliseconds that a job waits before it begins anew when the database failed it: the first time, and at most. */
const OTRA_VEZ = 500
const OTRA_VEZ_MAXIMA = 4_000
/** Milliseconds that a stop waits for the jobs under way. */
const PLAZO = 5_000

/**
 * Starts the workers and the feeder that turns pending rows into jobs, and repairs, at every round, what a crash left.
 * @param databaseUrl where other processes' signals are heard
 */
export async function iniciarWorkers(
  boss: PgBoss,
  partes: Omit<DepsDeTrabajo, 'avisarTrabajo' | 'despertar' | 'hayTrabajo'>,
  databaseUrl: string,
): Promise<Workers> {
  const avisar: AvisarTrabajo = (webhooks) => {
    if (webhooks) return bomba.mirar(webhooks)
    alimentador.avisar()
    bomba.despertar()
  }
  const despertadores = new Map<string, () => void>()
  const deps: DepsDeTrabajo = {
    ...partes,
    avisarTrabajo: avisar,
    despertar: (cola) => despertadores.get(cola)?.(),
    hayTrabajo: () => cuidado.apurar(),
  }
  const fallo = (err: unknown) => deps.log.warn({ err }, 'housekeeping')
  const bomba = new Bomba(boss, deps)
  const alimentador = new Alimentador(boss, TRABAJOS, deps)
  const cuidar = async () => {
    await Promise.all([boss.supervise(), bomba.rescatar()])
    bomba.tomar()
  }
  const cuidado = new Ronda(cuidar, { prisa: CUIDADO_S * 1_000, calma: CUIDADO_EN_CALMA }, fallo)
  const deFilas = TRABAJOS.filter(({ ejecutar }) => ejecutar).map(({ cola }) => cola)
  const rescate = new Rescate(boss, deps, deFilas)
  const rescates = new Ronda(() => rescate.mirar(), { prisa: RONDA_DE_RESCATE }, fallo)
  const limpieza = LIMPIEZA.map(({ cada, hacer }) => new Ronda(() => hacer(deps), { prisa: cada * 1_000 }, fallo))
  await atenderColas(boss, deps, despertadores)
  const oyente = new Oyente(databaseUrl, deps.log, (webhooks) => (webhooks ? bomba.mirar(webhooks, true) : avisar()))
  alimentador.avisar()
  const parar = async () => {
    const rondas = [cuidado, rescates, ...limpieza]
    await Promise.all([...rondas.map((ronda) => ronda.detener()), alimentador.detener(), oyente.cerrar()])
    await bomba.detener()
    await boss.stop({ graceful: true, timeout: PLAZO })
  }
  let parada: Promise<void> | undefined
  return {
    avisar,
    despachar: (recientes) => bomba.recibir(recientes),
    late: () => alimentador.late(),
    detener() {
      parada ??= parar()
      return parada
    },
  }
}

/**
 * Starts a worker for each queue.
 * @param despertadores gets, by queue, the call that wakes its worker
 */
async function atenderColas(boss: PgBoss, deps: DepsDeTrabajo, despertadores: Map<string, () => void>): Promise<void> {
  for (const { cola, aLaVez = LOTE, ejecutar } of TRABAJOS) {
    if (!ejecutar) continue
    const opciones = {
      batchSize: aLaVez,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: SONDEO,
      heartbeatRefreshSeconds: LATIDO_S,
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
 * Does the work again for as long as the database is away or takes no writes. The queue can't be told then that a job failed,
 * or counts failures that are not the job's.
 */
async function insistir(hacer: () => Promise<void>, senal: AbortSignal): Promise<void> {
  for (let espera = OTRA_VEZ; ; espera = Math.min(2 * espera, OTRA_VEZ_MAXIMA)) {
    try {
      return await hacer()
    } catch (err) {
      if (senal.aborted || traducirError(err).codigo !== 'no_disponible') throw err
      await dormir(espera)
    }
  }
}

/** The same call, at most once in so many milliseconds: what comes too soon is one call at the end of them. */
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
