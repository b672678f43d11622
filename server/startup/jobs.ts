import type { QueueOptions } from 'pg-boss'
import type { Cleanup, JobKind } from '../data/queue/job.ts'
import { fromJob } from '../data/queue/jobRows.ts'
import { RETRY_DELAY_SECONDS } from '../data/queue/rescue.ts'
import { purgeAprobaciones } from '../domain/aprobaciones/prune.ts'
import { sweepArchivos, sweepUnknownFiles } from '../domain/archivos/sweep.ts'
import { linkChains } from '../domain/bitacora/linkChain.ts'
import { indexGuias } from '../domain/busqueda/index.ts'
import { bringForwardCorreos, pendingCorreos, purgeCorreos, sendCorreos } from '../domain/correos/send.ts'
import { decideExpired, type ExpiredDecision, readExpiredDecisiones } from '../domain/decisiones/expire.ts'
import type { JobDeps } from '../domain/deps.ts'
import { reencryptTotp } from '../domain/equipo/factors/totp.ts'
import { purgeSignIns } from '../domain/equipo/sessions/sesion.ts'
import { reencryptCorrections } from '../domain/guias/reencrypt.ts'
import { purgeKeys } from '../domain/idempotencia/prune.ts'
import { purgeRepartidorSesiones } from '../domain/identities/repartidor.ts'
import { bringMensajesForward, readPendingMensajes } from '../domain/mensajeria/due.ts'
import { expireRequests, readExpiredRequests } from '../domain/mensajeria/expire.ts'
import { processInbound, readPendingInbound } from '../domain/mensajeria/processInbound.ts'
import { resumeUnsent } from '../domain/mensajeria/resume.ts'
import { sendMensajes } from '../domain/mensajeria/send.ts'
import { eraseOldPersonas } from '../domain/personas/erase.ts'
import { maintainErasures } from '../domain/personas/erasures.ts'
import { deletePruebas } from '../domain/pruebasEntrega/erase.ts'
import { bringPruebasForward, makePdfs, readPendingPruebas } from '../domain/pruebasEntrega/makePdf.ts'
import type { WebhookKey } from '../domain/records/webhookKey.ts'
import { eraseUbicaciones } from '../domain/ubicacion/erase.ts'
import { bringLinksForward, readPendingLinks, resolveLinks } from '../domain/ubicacion/resolveLinks.ts'
import { advanceRecoveries, readPendingRecoveries } from '../domain/webhooks/advanceRecovery.ts'
import { bringAvisosForward } from '../domain/webhooks/sending/advance.ts'
import { RETRY_QUEUE } from '../domain/webhooks/sending/retries.ts'
import { cleanWebhooks } from '../domain/webhooks/sweeper.ts'

/**
 * Options of queues in which each job stands for a row. A job that fails six times, or kills its worker six times, is
 * given up and deleted a minute later. The feeder then makes a new job if the row still waits.
 */
const ROW_JOB_OPTIONS: QueueOptions = {
  retryLimit: 5,
  retryDelay: RETRY_DELAY_SECONDS,
  retryBackoff: false,
  expireInSeconds: 60,
  // The minimum that pg-boss allows. `Rescue` detects a dead worker earlier.
  heartbeatSeconds: 10,
  deleteAfterSeconds: 60,
}

/** Options of queues whose jobs wait for external servers or make documents. Such a job may take up to 5 minutes. */
const LONG_JOB_OPTIONS: QueueOptions = { ...ROW_JOB_OPTIONS, expireInSeconds: 300 }

/** All background jobs of the service. */
export const JOBS: readonly JobKind<JobDeps>[] = [
  {
    cola: 'mensajes',
    opciones: LONG_JOB_OPTIONS,
    pendientes: readPendingMensajes('buzon'),
    advance: bringMensajesForward,
    run: sendMensajes,
  },
  {
    // A provider that hangs must not delay the mailbox, so WhatsApp has a queue of its own. One message may take 15
    // seconds.
    cola: 'whatsapp',
    opciones: LONG_JOB_OPTIONS,
    concurrency: 8,
    pendientes: (deps, count) => readPendingMensajes('whatsapp')(deps, Math.min(count, 64)),
    run: sendMensajes,
  },
  {
    // Sending one mail may take 45 seconds. A small batch leaves the other mails to other workers.
    cola: 'correos',
    opciones: LONG_JOB_OPTIONS,
    concurrency: 4,
    pendientes: (deps, count) => pendingCorreos(deps, Math.min(count, 64)),
    advance: bringForwardCorreos,
    run: sendCorreos,
  },
  {
    cola: 'entrantes',
    opciones: ROW_JOB_OPTIONS,
    pendientes: readPendingInbound,
    run: processInbound,
  },
  {
    cola: 'vencimientos',
    opciones: ROW_JOB_OPTIONS,
    pendientes: readExpiredRequests,
    run: (deps, jobs) => expireRequests(deps, jobs.map(fromJob)),
  },
  {
    cola: 'decisiones',
    opciones: ROW_JOB_OPTIONS,
    pendientes: readExpiredDecisiones,
    run: (deps, jobs) =>
      decideExpired(
        deps,
        jobs.map(({ data }) => data as ExpiredDecision),
      ),
  },
  {
    // Following one link may take 10 seconds, so a worker claims only a few links at a time.
    cola: 'enlaces',
    opciones: LONG_JOB_OPTIONS,
    concurrency: 8,
    pendientes: readPendingLinks,
    advance: bringLinksForward,
    run: resolveLinks,
  },
  {
    // A document takes up to two seconds. A small batch leaves the other documents to other workers.
    cola: 'pruebas',
    opciones: LONG_JOB_OPTIONS,
    concurrency: 2,
    pendientes: readPendingPruebas,
    advance: bringPruebasForward,
    run: makePdfs,
  },
  {
    cola: RETRY_QUEUE,
    opciones: { ...ROW_JOB_OPTIONS, retentionSeconds: 7 * 86_400 },
    advance: bringAvisosForward,
    run: async ({ notifyJobs }, jobs) => notifyJobs(jobs.map(({ data }) => data as WebhookKey)),
  },
  {
    cola: 'recuperaciones',
    opciones: ROW_JOB_OPTIONS,
    pendientes: readPendingRecoveries,
    run: (deps, jobs) => advanceRecoveries(deps, jobs.map(fromJob)),
  },
]

/** Periodic work that does not depend on a pending row. */
export const CLEANUPS: readonly Cleanup<JobDeps>[] = [
  { intervalSeconds: 30, perform: cleanWebhooks },
  { intervalSeconds: 30, perform: linkChains },
  { intervalSeconds: 5, perform: indexGuias },
  { intervalSeconds: 300, perform: resumeUnsent },
  { intervalSeconds: 300, perform: eraseUbicaciones },
  { intervalSeconds: 300, perform: eraseOldPersonas },
  { intervalSeconds: 300, perform: deletePruebas },
  { intervalSeconds: 300, perform: sweepArchivos },
  { intervalSeconds: 300, perform: purgeRepartidorSesiones },
  { intervalSeconds: 300, perform: purgeSignIns },
  { intervalSeconds: 3_600, perform: reencryptCorrections },
  { intervalSeconds: 300, perform: reencryptTotp },
  { intervalSeconds: 3_600, perform: purgeKeys },
  { intervalSeconds: 3_600, perform: purgeAprobaciones },
  { intervalSeconds: 3_600, perform: purgeCorreos },
  { intervalSeconds: 3_600, perform: maintainErasures },
  { intervalSeconds: 86_400, perform: sweepUnknownFiles },
]
