import type { QueueOptions } from 'pg-boss'
import { barrerArchivos, barrerDesconocidos } from './archivos/barrer.ts'
import { encadenar } from './bitacora/encadenar.ts'
import { deTrabajo } from './cola/filas.ts'
import { REPOSO_S } from './cola/rescate.ts'
import type { Limpieza, Trabajo } from './cola/trabajo.ts'
import { enviarMensajes } from './mensajeria/enviar.ts'
import { adelantarMensajes, mensajesPendientes, solicitudesVencidas, vencerSolicitudes } from './mensajeria/mensaje.ts'
import { entrantesPendientes, procesarEntrantes } from './mensajeria/procesarEntrantes.ts'
import { retomarSinSalida } from './mensajeria/retomar.ts'
import { olvidarPersonas } from './personas/olvidar.ts'
import { borrarPruebas } from './pruebasEntrega/borrar.ts'
import { adelantarPruebas, hacerPdfs, pruebasPendientes } from './pruebasEntrega/hacerPdf.ts'
import { limpiarSesiones } from './repartidores/repartidor.ts'
import { olvidarUbicaciones } from './ubicacion/olvidar.ts'
import { adelantarEnlaces, enlacesPendientes, resolverEnlaces } from './ubicacion/resolverEnlaces.ts'
import { adelantarEntregas } from './webhooks/adelantar.ts'
import { avanzarRecuperaciones, recuperacionesPendientes } from './webhooks/avanzarRecuperacion.ts'
import { COLA_DE_ARRIENDOS } from './webhooks/bombas.ts'
import { limpiarWebhooks } from './webhooks/limpiar.ts'
import { COLA_DE_REINTENTOS } from './webhooks/reintentos.ts'
import type { ClaveDeWebhook } from './webhooks/webhook.ts'

export { Bomba } from './webhooks/bomba.ts'

/**
 * Options of queues whose jobs each stand for a row. A job that fails six times, or kills its worker six times, is given up
 * and deleted a minute later; the feeder then makes a new one if its row still waits.
 */
const DE_FILAS: QueueOptions = {
  retryLimit: 5,
  retryDelay: REPOSO_S,
  retryBackoff: false,
  expireInSeconds: 60,
  // The least that pg-boss allows; `Rescate` notices a dead worker earlier.
  heartbeatSeconds: 10,
  deleteAfterSeconds: 60,
}

/** Options of queues whose jobs wait for others' servers or make documents, each step with a deadline of its own. */
const LARGOS: QueueOptions = { ...DE_FILAS, expireInSeconds: 300 }

/** Every background job of the service. */
export const TRABAJOS: readonly Trabajo[] = [
  {
    cola: 'mensajes',
    opciones: LARGOS,
    pendientes: mensajesPendientes('buzon'),
    adelantar: adelantarMensajes,
    ejecutar: enviarMensajes,
  },
  {
    // A queue of its own: a provider that hangs does not delay the mailbox. One message may take 15 seconds.
    cola: 'whatsapp',
    opciones: LARGOS,
    aLaVez: 8,
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
    ejecutar: (deps, trabajos) => vencerSolicitudes(deps, trabajos.map(deTrabajo)),
  },
  {
    // One link may take 10 seconds.
    cola: 'enlaces',
    opciones: LARGOS,
    aLaVez: 8,
    pendientes: enlacesPendientes,
    adelantar: adelantarEnlaces,
    ejecutar: resolverEnlaces,
  },
  {
    // A document takes up to two seconds. Few at a time, so that other workers make the rest.
    cola: 'pruebas',
    opciones: LARGOS,
    aLaVez: 2,
    pendientes: pruebasPendientes,
    adelantar: adelantarPruebas,
    ejecutar: hacerPdfs,
  },
  {
    // Endpoints that a process holds, to send what is due to them (server/webhooks/bomba.ts).
    cola: COLA_DE_ARRIENDOS,
    opciones: {
      retryLimit: 1_000_000,
      retryDelay: 0,
      // A lease lives as long as its process does; after half a day it is taken anew.
      expireInSeconds: 43_200,
      // For a version that doesn't know of `webhook_bomba`, should it be the only one left.
      heartbeatSeconds: 600,
      retentionSeconds: 86_400,
      deleteAfterSeconds: 60,
    },
    aparte: true,
    politica: 'exclusive',
    adelantar: adelantarEntregas,
  },
  {
    cola: COLA_DE_REINTENTOS,
    opciones: { ...DE_FILAS, retentionSeconds: 7 * 86_400 },
    ejecutar: async ({ avisarTrabajo }, trabajos) => avisarTrabajo(trabajos.map(({ data }) => data as ClaveDeWebhook)),
  },
  {
    cola: 'recuperaciones',
    opciones: DE_FILAS,
    pendientes: recuperacionesPendientes,
    ejecutar: (deps, trabajos) => avanzarRecuperaciones(deps, trabajos.map(deTrabajo)),
  },
]

/** What is done every so many seconds without anybody's row asking for it. */
export const LIMPIEZA: readonly Limpieza[] = [
  { cada: 30, hacer: limpiarWebhooks },
  { cada: 30, hacer: encadenar },
  { cada: 300, hacer: retomarSinSalida },
  { cada: 300, hacer: olvidarUbicaciones },
  { cada: 300, hacer: olvidarPersonas },
  { cada: 300, hacer: borrarPruebas },
  { cada: 300, hacer: barrerArchivos },
  { cada: 300, hacer: limpiarSesiones },
  { cada: 86_400, hacer: barrerDesconocidos },
]
