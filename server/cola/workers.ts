import type { PgBoss } from 'pg-boss'
import type { DepsDeTrabajo } from '../deps.ts'
import type { EventoRecien } from '../eventos/evento.ts'
import type { Log } from '../log.ts'
import { Bomba, LIMPIEZA, TRABAJOS } from '../trabajos.ts'
import type { AvisarTrabajo } from '../webhooks/webhook.ts'
import { Alimentador } from './alimentador.ts'
import { Oyente } from './senales.ts'

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

/** Jobs of a queue done at a time. */
const LOTE = 1_000
/** How often a worker is told of new jobs, in milliseconds: one round of many jobs costs less than many of one. */
const ESPACIO = 100
/**
 * How often a worker looks for jobs of which nobody told it, in seconds: what another process fed and did not do, and what
 * failed and is tried again.
 */
const SONDEO = 10
/** How long a stop waits for the jobs under way, in milliseconds. */
const PLAZO = 5_000

/**
 * Starts the workers and the feeder that turns pending rows into jobs, and repairs, at every round, what a crash left.
 * @param databaseUrl where other processes' signals are heard
 */
export async function iniciarWorkers(
  boss: PgBoss,
  partes: Omit<DepsDeTrabajo, 'avisarTrabajo'>,
  databaseUrl: string,
): Promise<Workers> {
  await crearColas(boss)
  const avisar: AvisarTrabajo = (webhooks) => {
    if (webhooks) return bomba.mirar(webhooks)
    alimentador.avisar()
    bomba.despertar()
  }
  const deps: DepsDeTrabajo = { ...partes, avisarTrabajo: avisar }
  const bomba = new Bomba(boss, deps)
  const alimentador = new Alimentador(boss, TRABAJOS, deps)
  const limpieza = LIMPIEZA.map(({ cada, hacer }) => repetir(cada * 1_000, () => hacer(deps), deps.log))
  await atenderColas(boss, deps, alimentador)
  const oyente = new Oyente(databaseUrl, deps.log, (webhooks) => (webhooks ? bomba.mirar(webhooks, true) : avisar()))
  alimentador.avisar()
  const parar = async () => {
    await Promise.all([...limpieza.map((terminar) => terminar()), alimentador.detener(), oyente.cerrar()])
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

async function atenderColas(boss: PgBoss, deps: DepsDeTrabajo, alimentador: Alimentador): Promise<void> {
  for (const { cola, ejecutar, sondeo = SONDEO } of TRABAJOS) {
    if (!ejecutar) continue
    const id = await boss.work<object>(cola, { batchSize: LOTE, pollingIntervalSeconds: sondeo }, async (trabajos) => {
      const inicio = performance.now()
      await ejecutar(deps, trabajos)
      deps.log.info({ cola, filas: trabajos.length, ms: Math.round(performance.now() - inicio) }, 'job')
    })
    alimentador.conectar(
      cola,
      espaciar(ESPACIO, () => boss.notifyWorker(id)),
    )
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

/** Does it now and then every so often, never twice at once; returns how to stop it, which waits for the one under way. */
function repetir(cada: number, hacer: () => Promise<void>, log: Log): () => Promise<void> {
  let enMarcha: Promise<void> | undefined
  const vez = () => {
    enMarcha ??= hacer()
      .catch((err) => log.warn({ err }, 'housekeeping'))
      .finally(() => {
        enMarcha = undefined
      })
  }
  const temporizador = setInterval(vez, cada)
  vez()
  return async () => {
    clearInterval(temporizador)
    await enMarcha
  }
}
