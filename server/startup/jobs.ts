import type { QueueOptions } from 'pg-boss'
import type { Cleanup, JobKind } from '../data/queue/job.ts'
import { fromJob } from '../data/queue/jobRows.ts'
import { RETRY_DELAY_SECONDS } from '../data/queue/rescue.ts'
import { limpiarAprobaciones } from '../domain/aprobaciones/limpiar.ts'
import { barrerArchivos, barrerDesconocidos } from '../domain/archivos/sweep.ts'
import { linkChains } from '../domain/bitacora/linkChain.ts'
import { indexarGuias } from '../domain/busqueda/indexar.ts'
import { adelantarCorreos, correosPendientes, enviarCorreos, limpiarCorreos } from '../domain/correos/enviar.ts'
import { decidirVencidas, decisionesVencidas, type Vencida } from '../domain/decisiones/vencer.ts'
import type { DepsDeTrabajo } from '../domain/deps.ts'
import { limpiarEntradas } from '../domain/equipo/sesion.ts'
import { reencryptTotp } from '../domain/equipo/totp.ts'
import { reencryptCorrections } from '../domain/guias/reencrypt.ts'
import { limpiarClaves } from '../domain/idempotencia/limpiar.ts'
import { adelantarMensajes, mensajesPendientes } from '../domain/mensajeria/due.ts'
import { enviarMensajes } from '../domain/mensajeria/enviar.ts'
import { solicitudesVencidas, vencerSolicitudes } from '../domain/mensajeria/expire.ts'
import { entrantesPendientes, procesarEntrantes } from '../domain/mensajeria/procesarEntrantes.ts'
import { retomarSinSalida } from '../domain/mensajeria/retomar.ts'
import { olvidarPersonas } from '../domain/personas/olvidar.ts'
import { cuidarOlvidos } from '../domain/personas/olvidos.ts'
import { borrarPruebas } from '../domain/pruebasEntrega/borrar.ts'
import { adelantarPruebas, hacerPdfs, pruebasPendientes } from '../domain/pruebasEntrega/hacerPdf.ts'
import { limpiarSesiones } from '../domain/repartidores/repartidor.ts'
import { olvidarUbicaciones } from '../domain/ubicacion/olvidar.ts'
import { adelantarEnlaces, enlacesPendientes, resolverEnlaces } from '../domain/ubicacion/resolverEnlaces.ts'
import { adelantarEntregas } from '../domain/webhooks/advance.ts'
import { avanzarRecuperaciones, recuperacionesPendientes } from '../domain/webhooks/avanzarRecuperacion.ts'
import { LEASE_QUEUE } from '../domain/webhooks/pumps.ts'
import { RETRY_QUEUE } from '../domain/webhooks/retries.ts'
import { limpiarWebhooks } from '../domain/webhooks/sweeper.ts'
import type { ClaveDeWebhook } from '../domain/webhooks/webhook.ts'

/**
 * Options of queues in which each job stands for a row. A job that fails six times, or kills its worker six times, is
 * given up and deleted a minute later. The feeder then makes a new job if the row still waits.
 */
const DE_FILAS: QueueOptions = {
  retryLimit: 5,
  retryDelay: RETRY_DELAY_SECONDS,
  retryBackoff: false,
  expireInSeconds: 60,
  // The minimum that pg-boss allows. `Rescue` detects a dead worker earlier.
  heartbeatSeconds: 10,
  deleteAfterSeconds: 60,
}

/** Options of queues whose jobs wait for external servers or make documents. Such a job may take up to 5 minutes. */
const LARGOS: QueueOptions = { ...DE_FILAS, expireInSeconds: 300 }

/** All background jobs of the service. */
export const JOBS: readonly JobKind<DepsDeTrabajo>[] = [
  {
    cola: 'mensajes',
    opciones: LARGOS,
    pendientes: mensajesPendientes('buzon'),
    adelantar: adelantarMensajes,
    ejecutar: enviarMensajes,
  },
  {
    // A provider that hangs must not delay the mailbox, so WhatsApp has a queue of its own. One message may take 15
    // seconds.
    cola: 'whatsapp',
    opciones: LARGOS,
    aLaVez: 8,
    pendientes: (deps, cuantas) => mensajesPendientes('whatsapp')(deps, Math.min(cuantas, 64)),
    ejecutar: enviarMensajes,
  },
  {
    // Sending one mail may take 45 seconds. A small batch leaves the other mails to other workers.
    cola: 'correos',
    opciones: LARGOS,
    aLaVez: 4,
    pendientes: (deps, cuantas) => correosPendientes(deps, Math.min(cuantas, 64)),
    adelantar: adelantarCorreos,
    ejecutar: enviarCorreos,
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
    ejecutar: (deps, trabajos) => vencerSolicitudes(deps, trabajos.map(fromJob)),
  },
  {
    cola: 'decisiones',
    opciones: DE_FILAS,
    pendientes: decisionesVencidas,
    ejecutar: (deps, trabajos) =>
      decidirVencidas(
        deps,
        trabajos.map(({ data }) => data as Vencida),
      ),
  },
  {
    // Following one link may take 10 seconds, so a worker claims only a few links at a time.
    cola: 'enlaces',
    opciones: LARGOS,
    aLaVez: 8,
    pendientes: enlacesPendientes,
    adelantar: adelantarEnlaces,
    ejecutar: resolverEnlaces,
  },
  {
    // A document takes up to two seconds. A small batch leaves the other documents to other workers.
    cola: 'pruebas',
    opciones: LARGOS,
    aLaVez: 2,
    pendientes: pruebasPendientes,
    adelantar: adelantarPruebas,
    ejecutar: hacerPdfs,
  },
  {
    // A job is an endpoint that a process holds, to send its due deliveries (server/domain/webhooks/pump.ts).
    cola: LEASE_QUEUE,
    opciones: {
      retryLimit: 1_000_000,
      retryDelay: 0,
      // A lease lives as long as its process, but for half a day at most. A process then takes it anew.
      expireInSeconds: 43_200,
      // Heartbeat for older versions of the service, which do not know the table `webhook_bomba`. It lets them take
      // over the lease of a newer process that has died.
      heartbeatSeconds: 600,
      retentionSeconds: 86_400,
      deleteAfterSeconds: 60,
    },
    aparte: true,
    politica: 'exclusive',
    adelantar: adelantarEntregas,
  },
  {
    cola: RETRY_QUEUE,
    opciones: { ...DE_FILAS, retentionSeconds: 7 * 86_400 },
    ejecutar: async ({ avisarTrabajo }, trabajos) => avisarTrabajo(trabajos.map(({ data }) => data as ClaveDeWebhook)),
  },
  {
    cola: 'recuperaciones',
    opciones: DE_FILAS,
    pendientes: recuperacionesPendientes,
    ejecutar: (deps, trabajos) => avanzarRecuperaciones(deps, trabajos.map(fromJob)),
  },
]

/** Periodic work that does not depend on a pending row. `cada`: interval in seconds. */
export const CLEANUPS: readonly Cleanup<DepsDeTrabajo>[] = [
  { cada: 30, hacer: limpiarWebhooks },
  { cada: 30, hacer: linkChains },
  { cada: 5, hacer: indexarGuias },
  { cada: 300, hacer: retomarSinSalida },
  { cada: 300, hacer: olvidarUbicaciones },
  { cada: 300, hacer: olvidarPersonas },
  { cada: 300, hacer: borrarPruebas },
  { cada: 300, hacer: barrerArchivos },
  { cada: 300, hacer: limpiarSesiones },
  { cada: 300, hacer: limpiarEntradas },
  { cada: 3_600, hacer: reencryptCorrections },
  { cada: 300, hacer: reencryptTotp },
  { cada: 3_600, hacer: limpiarClaves },
  { cada: 3_600, hacer: limpiarAprobaciones },
  { cada: 3_600, hacer: limpiarCorreos },
  { cada: 3_600, hacer: cuidarOlvidos },
  { cada: 86_400, hacer: barrerDesconocidos },
]
