import type { PgBoss } from 'pg-boss'
import type { DepsDeTrabajo } from '../deps.ts'
import type { Log } from '../log.ts'
import { LIMPIEZA, TRABAJOS } from '../trabajos.ts'
import { Alimentador } from './alimentador.ts'
import type { Bomba } from './trabajo.ts'

/** Makes the queues, or brings their options up to date. */
export async function crearColas(boss: PgBoss): Promise<void> {
  for (const { cola, opciones, aparte = false } of TRABAJOS) {
    await boss.createQueue(cola, { ...opciones, partition: aparte })
    await boss.updateQueue(cola, opciones)
  }
}

/** The workers of a process: what feeds the queue, does its jobs and keeps house. */
export interface Workers {
  /** Looks for pending rows now instead of at the next round. */
  avisar: () => void
  /** Whether the feeder got through to database and queue lately. */
  late: () => boolean
  /** Calling it again waits for the same stop. */
  detener: () => Promise<void>
}

/** Jobs of a queue done at a time. */
const LOTE = 1_000
/** How often a worker is told of new jobs, in milliseconds: one round of many jobs costs less than many of one. */
const ESPACIO = 100
/** How long a stop waits for the jobs under way, in milliseconds. */
const PLAZO = 5_000

/**
 * Starts the workers and the feeder that turns pending rows into jobs, and repairs, at every round, what a crash left.
 */
export async function iniciarWorkers(
  boss: PgBoss,
  partes: Omit<DepsDeTrabajo, 'avisarTrabajo' | 'ronda'>,
): Promise<Workers> {
  await crearColas(boss)
  const deps: DepsDeTrabajo = {
    ...partes,
    ronda: { despues: undefined },
    avisarTrabajo: () => alimentador.avisar(),
  }
  const alimentador = new Alimentador(boss, TRABAJOS, deps)
  const limpieza = LIMPIEZA.map(({ cada, hacer }) => repetir(cada * 1_000, () => hacer(deps), deps.log))
  const bombas = await atenderColas(boss, deps, alimentador)
  alimentador.avisar()
  const parar = async () => {
    for (const terminar of limpieza) terminar()
    await alimentador.detener()
    await Promise.all(bombas.map((bomba) => bomba.detener()))
    await boss.stop({ graceful: true, timeout: PLAZO })
  }
  let parada: Promise<void> | undefined
  return {
    avisar: () => alimentador.avisar(),
    late: () => alimentador.late(),
    detener() {
      parada ??= parar()
      return parada
    },
  }
}

async function atenderColas(boss: PgBoss, deps: DepsDeTrabajo, alimentador: Alimentador): Promise<Bomba[]> {
  const bombas: Bomba[] = []
  for (const trabajo of TRABAJOS) {
    const { cola } = trabajo
    if ('bombear' in trabajo) {
      const bomba = trabajo.bombear(boss, cola, deps, alimentador)
      alimentador.conectar(cola, bomba.despertar)
      bombas.push(bomba)
      continue
    }
    const id = await boss.work<object>(cola, { batchSize: LOTE, pollingIntervalSeconds: 0.5 }, async (trabajos) => {
      const inicio = performance.now()
      await trabajo.ejecutar(deps, trabajos)
      deps.log.info({ cola, filas: trabajos.length, ms: Math.round(performance.now() - inicio) }, 'job')
    })
    alimentador.conectar(
      cola,
      espaciar(ESPACIO, () => boss.notifyWorker(id)),
    )
  }
  return bombas
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

/** Does it now and then every so often, never twice at once; returns how to stop it. */
function repetir(cada: number, hacer: () => Promise<void>, log: Log): () => void {
  let enMarcha = false
  const vez = async () => {
    if (enMarcha) return
    enMarcha = true
    await hacer().catch((err) => log.warn({ err }, 'housekeeping'))
    enMarcha = false
  }
  const temporizador = setInterval(vez, cada)
  void vez()
  return () => clearInterval(temporizador)
}
