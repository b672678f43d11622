import type { JobInsert, PgBoss, QueueOptions } from 'pg-boss'
import type { Almacen } from './archivos/almacen.ts'
import { barrerArchivos, barrerDesconocidos } from './archivos/barrer.ts'
import type { Db } from './db.ts'
import { traducirError } from './errores.ts'
import type { Log } from './log.ts'
import type { ResolutorDeEnlaces } from './mapas/enlacesCortos.ts'
import { type DepsDeEnvio, enviarMensajes } from './mensajeria/enviar.ts'
import { mensajesPendientes, solicitudesVencidas, vencerSolicitudes } from './mensajeria/mensaje.ts'
import { entrantesPendientes, procesarEntrantes } from './mensajeria/procesarEntrantes.ts'
import { borrarPruebas } from './pruebasEntrega/borrar.ts'
import { type DepsDePdf, hacerPdfs, pruebasPendientes } from './pruebasEntrega/hacerPdf.ts'
import { limpiarSesiones } from './repartidores/repartidor.ts'
import type { Secretos } from './secretos.ts'
import { olvidarUbicaciones } from './ubicacion/olvidar.ts'
import { enlacesPendientes, resolverEnlaces } from './ubicacion/resolverEnlaces.ts'
import { avanzarRecuperaciones, recuperacionesPendientes } from './webhooks/avanzarRecuperacion.ts'
import { type Alimentador, type Bomba, bombear, type DepsDeBomba } from './webhooks/bomba.ts'
import { entregasDeWebhookPendientes, type Ronda } from './webhooks/entregasPendientes.ts'
import { limpiarWebhooks } from './webhooks/limpiar.ts'

/** What a job may use. */
export interface DepsDeTrabajo extends DepsDeBomba, DepsDeEnvio, DepsDePdf {
  db: Db
  log: Log
  reloj: () => Date
  secretos: Secretos
  almacen: Almacen
  /** Our number at the messaging provider; '' without one. */
  phoneNumberId: string
  enlaces: ResolutorDeEnlaces
  /** How long places are kept after a guide's end, in days. */
  retencionDeUbicaciones: number
  /** How long proofs are kept after the delivery or the attempt, in days. */
  retencionDePruebas: number
  /** How long deliveries that are over are kept, in days. */
  retencionDeWebhooks: number
  /** Says that rows of pending work were committed, so that the feeder need not wait for its next round. */
  avisarTrabajo: () => void
  ronda: Ronda
}

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
      bombear: (boss: PgBoss, cola: string, deps: DepsDeTrabajo, alimentador: Alimentador) => Bomba
    }
)

const DE_FILAS: QueueOptions = {
  retryLimit: 5,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 60,
  expireInSeconds: 60,
  deleteAfterSeconds: 60,
}

/** Every background job of the service. */
export const TRABAJOS: readonly Trabajo[] = [
  {
    cola: 'mensajes',
    // A finished or given-up job makes room soon: if its row still waits, the feeder makes a new one.
    opciones: { ...DE_FILAS, expireInSeconds: 300 },
    pendientes: mensajesPendientes('buzon'),
    ejecutar: enviarMensajes,
  },
  {
    // Apart: a provider that hangs holds up no mailbox. Few at a time, for each may take its 15 seconds.
    cola: 'whatsapp',
    opciones: { ...DE_FILAS, expireInSeconds: 300 },
    pendientes: (deps, cuantas) => mensajesPendientes('whatsapp')(deps, Math.min(cuantas, 64)),
    ejecutar: enviarMensajes,
  },
  {
    cola: 'entrantes',
    opciones: DE_FILAS,
    pendientes: entrantesPendientes,
    ejecutar: procesarEntrantes,
  },
  {
    cola: 'vencimientos',
    opciones: DE_FILAS,
    pendientes: solicitudesVencidas,
    ejecutar: (deps, trabajos) =>
      vencerSolicitudes(
        deps,
        trabajos.map(({ id }) => id),
      ),
  },
  {
    cola: 'enlaces',
    opciones: { ...DE_FILAS, expireInSeconds: 300 },
    pendientes: enlacesPendientes,
    ejecutar: resolverEnlaces,
  },
  {
    // A document takes up to a second or two, and its photos' memory: one after the other.
    cola: 'pruebas',
    opciones: { ...DE_FILAS, expireInSeconds: 120 },
    pendientes: pruebasPendientes,
    ejecutar: hacerPdfs,
  },
  {
    cola: 'webhook_entregas',
    opciones: {
      // Its own tables count attempts: what the queue repeats is a claim that lapsed with its worker.
      retryLimit: 1_000_000,
      retryDelay: 0,
      // Longer than an exchange may take (15 s) with what comes before (5 s) and after it.
      expireInSeconds: 25,
      retentionSeconds: 3_600,
      deleteAfterSeconds: 60,
    },
    aparte: true,
    pendientes: entregasDeWebhookPendientes,
    bombear,
  },
  {
    cola: 'recuperaciones',
    opciones: DE_FILAS,
    pendientes: recuperacionesPendientes,
    ejecutar: (deps, trabajos) =>
      avanzarRecuperaciones(
        deps,
        trabajos.map(({ id }) => id),
      ),
  },
]

/** What is done every so many seconds without anybody's row asking for it. */
const LIMPIEZA: readonly { cada: number; hacer: (deps: DepsDeTrabajo) => Promise<void> }[] = [
  { cada: 30, hacer: limpiarWebhooks },
  { cada: 300, hacer: olvidarUbicaciones },
  { cada: 300, hacer: borrarPruebas },
  { cada: 300, hacer: barrerArchivos },
  { cada: 300, hacer: limpiarSesiones },
  { cada: 86_400, hacer: barrerDesconocidos },
]

/** Makes the queues, or brings their options up to date. */
export async function crearColas(boss: PgBoss): Promise<void> {
  for (const { cola, opciones, aparte = false } of TRABAJOS) {
    await boss.createQueue(cola, { ...opciones, partition: aparte })
    await boss.updateQueue(cola, opciones)
  }
}

export interface Workers {
  /** Looks for pending rows now instead of at the next round. */
  avisar: () => void
  /** Whether the feeder got through to database and queue lately. */
  late: () => boolean
  /** Calling it again waits for the same stop. */
  detener: () => Promise<void>
}

/** Rows fed to the queue, and done, at a time; and how often the feeder looks by itself, in milliseconds. */
const LOTE = 1_000
const RONDA = 500
/** How often a worker is told of new jobs, in milliseconds: one round of many jobs costs less than many of one. */
const ESPACIO = 100
/** How long a job that was fed isn't fed again, in milliseconds: feeding twice does nothing, but costs. */
const MEMORIA = 5_000
/** Without a good round for so long, in milliseconds, the queue is not well. */
const SILENCIO = 20_000
/** How long a stop waits for a round and for the jobs under way, in milliseconds. */
const PLAZO = 5_000

/** Starts the workers and the feeder that turns pending rows into jobs, and repairs, at every round, what a crash left. */
export async function iniciarWorkers(
  boss: PgBoss,
  de: Omit<DepsDeTrabajo, 'avisarTrabajo' | 'ronda'>,
): Promise<Workers> {
  await crearColas(boss)
  const ronda: Ronda = { despues: undefined }
  const alimentador = crearAlimentador(boss, { ...de, ronda, avisarTrabajo: () => alimentador.avisar() })
  const { deps } = alimentador
  const bombas: Bomba[] = []
  const limpieza = LIMPIEZA.map(({ cada, hacer }) => repetir(cada * 1_000, () => hacer(deps), deps.log))
  for (const trabajo of TRABAJOS) {
    if ('bombear' in trabajo) {
      const { avisar, olvidar } = alimentador
      const bomba = trabajo.bombear(boss, trabajo.cola, deps, { avisar, olvidar })
      alimentador.despertadores.set(trabajo.cola, bomba.despertar)
      bombas.push(bomba)
      continue
    }
    const { cola, ejecutar } = trabajo
    const id = await boss.work<object>(cola, { batchSize: LOTE, pollingIntervalSeconds: 0.5 }, async (trabajos) => {
      const inicio = performance.now()
      await ejecutar(deps, trabajos)
      deps.log.info({ cola, filas: trabajos.length, ms: Math.round(performance.now() - inicio) }, 'job')
    })
    alimentador.despertadores.set(
      cola,
      espaciar(ESPACIO, () => boss.notifyWorker(id)),
    )
  }
  alimentador.avisar()
  const parar = async () => {
    for (const terminar of limpieza) terminar()
    await alimentador.detener()
    await Promise.all(bombas.map((bomba) => bomba.detener()))
    await boss.stop({ graceful: true, timeout: PLAZO })
  }
  let parada: Promise<void> | undefined
  return {
    avisar: alimentador.avisar,
    late: alimentador.late,
    detener() {
      parada ??= parar()
      return parada
    },
  }
}

/** The feeder: one round after another, soon when somebody asks, or else by itself. */
function crearAlimentador(boss: PgBoss, deps: DepsDeTrabajo) {
  /** Queue → how whoever takes its jobs is told of new ones. */
  const despertadores = new Map<string, () => void>()
  const alimentados = new Map<string, number>()
  let temporizador: NodeJS.Timeout | undefined
  let inmediata: NodeJS.Immediate | undefined
  let ronda: Promise<unknown> | undefined
  /** When the next round is due. */
  let cita = Number.POSITIVE_INFINITY
  /** Before that, there is none. */
  let libre = 0
  let detenido = false
  let buena = performance.now()

  /** Whether there is more than it came to. */
  const alimentar = async ({ cola, pendientes }: Trabajo): Promise<boolean> => {
    const hallados = await pendientes(deps, LOTE)
    const { trabajos, hayMas } = Array.isArray(hallados) ? { trabajos: hallados, hayMas: false } : hallados
    const nuevos = trabajos.filter(({ id }) => !alimentados.has(id!))
    for (let i = 0; i < nuevos.length; i += LOTE) {
      const tanda = nuevos.slice(i, i + LOTE)
      for (const { id } of tanda) alimentados.set(id!, performance.now())
      await boss.insert(cola, tanda, { returnId: false })
      despertadores.get(cola)?.()
    }
    return hayMas
  }
  const olvidarViejos = () => {
    const viejo = performance.now() - MEMORIA
    for (const [id, cuando] of alimentados) {
      if (cuando > viejo) break
      alimentados.delete(id)
    }
  }
  const girar = () => {
    const inicio = performance.now()
    cita = inicio + RONDA
    olvidarViejos()
    ronda = Promise.all(TRABAJOS.map(alimentar))
      .then((quedan) => {
        buena = performance.now()
        if (quedan.includes(true)) cita = buena
      })
      .catch((err) => {
        // What it was about to feed may not have arrived.
        alimentados.clear()
        deps.log[traducirError(err).codigo === 'no_disponible' ? 'warn' : 'error']({ err }, 'feeder')
      })
      .finally(() => {
        ronda = undefined
        // Half of the time at most: however often somebody asks, the database has others to serve.
        libre = 2 * performance.now() - inicio
        citar()
      })
  }
  const citar = () => {
    clearTimeout(temporizador)
    clearImmediate(inmediata)
    if (ronda || detenido) return
    const falta = Math.max(cita, libre) - performance.now()
    // The shortest timer takes a millisecond, which is a good part of what a delivery takes.
    if (falta <= 0) inmediata = setImmediate(girar)
    else temporizador = setTimeout(girar, falta)
  }
  return {
    deps,
    despertadores,
    avisar(ms = 0) {
      const cuando = performance.now() + ms
      if (cuando >= cita) return
      cita = cuando
      citar()
    },
    olvidar(ids: readonly string[]) {
      for (const id of ids) alimentados.delete(id)
    },
    late: () => performance.now() - buena < SILENCIO,
    async detener() {
      detenido = true
      clearTimeout(temporizador)
      clearImmediate(inmediata)
      // A round that hangs on a dead connection must not keep the process: its rows are found again by the next one.
      await Promise.race([ronda, new Promise((resolve) => setTimeout(resolve, PLAZO).unref())])
    },
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
    setTimeout(llamar, libre - performance.now()).unref()
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
