import type { Validation } from '../api/contract/validation.ts'
import type { Browser } from '../api/http/browser.ts'
import type { RefusalLog } from '../api/http/refusalLog.ts'
import type { OwnerTurns } from '../api/http/turns.ts'
import type { Limits } from '../api/limits/limits.ts'
import type { NetworkLimit } from '../api/limits/networkLimit.ts'
import type { Cursors } from '../api/lists/cursor.ts'
import type { Db } from '../data/db.ts'
import type { ReadDb } from '../data/replica.ts'
import type { CanalDeMensaje, Modo } from '../generado/contrato/tipos/index.ts'
import type { Brand } from '../platform/brand/brand.ts'
import type { Config } from '../platform/config/config.ts'
import type { FileStore } from '../platform/files/store.ts'
import type { Log } from '../platform/log.ts'
import type { DocumentMaps } from '../platform/maps/documentMaps.ts'
import type { ShortLinkResolver } from '../platform/maps/shortLinks.ts'
import type { OutboundPolicy } from '../platform/outbound/destination.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { RecentDocuments } from '../platform/threads/recent.ts'
import type { ThreadPool } from '../platform/threads/threads.ts'
import type { SignedLinks } from './archivos/links.ts'
import type { Reception } from './archivos/reception.ts'
import type { Bitacora } from './bitacora/bitacora.ts'
import type { GuideWriter } from './guias/writing.ts'
import type { Usos } from './llaves/usos.ts'
import type { ClienteDeWhatsapp } from './mensajeria/whatsapp.ts'
import type { ServiceThreadTasks } from './threadTasks.ts'
import type { DryRun } from './webhooks/dryRun.ts'
import type { WebhookMetrics } from './webhooks/metrics.ts'
import type { Sender } from './webhooks/sender.ts'
import type { AvisarTrabajo, ClaveDeWebhook } from './webhooks/webhook.ts'

type DeLaConfig =
  | 'alcanceDeRepartidor'
  | 'contactoDeSeguridad'
  | 'horasDeSolicitud'
  | 'mensajeria'
  | 'mosaicos'
  | 'proxies'
  | 'retencionDePersonas'
  | 'retencionDePruebas'
  | 'retencionDeUbicaciones'
  | 'retencionDeWebhooks'
  | 'zonaHoraria'

/** Settings that operations, pages and jobs read: some members of the configuration, the public URL and the brand. */
export interface ServiceSettings extends Pick<Config, DeLaConfig> {
  /** Base of every link that the service gives out, without a final slash. */
  readonly urlPublica: string
  readonly marca: Brand
  /** True if demo keys and demo codes are valid: in the embedded default that no other machine reaches. */
  readonly demostracion: boolean
}

/**
 * Dependencies that a process builds once, and that all its operations, pages and jobs share. No module keeps state of
 * its own.
 */
export interface Deps {
  db: Db
  /** Database or replica for reads that may be some seconds old. */
  dbDeLectura: ReadDb
  log: Log
  reloj: () => Date
  /** Returns an id, a strictly increasing UUIDv7, and the instant inside it. */
  nuevoId: () => { id: string; creado_en: Date }
  secretos: Secrets
  ajustes: ServiceSettings
  cursores: Cursors
  escritura: GuideWriter
  avisarTrabajo: AvisarTrabajo
  /** Rules about the addresses to which webhooks may lead. */
  destinos: OutboundPolicy
  /** Returns the channel by which recipients of guides of a mode are asked for their place. */
  canalDe: (modo: Modo) => CanalDeMensaje
  /** Storage of files. */
  almacen: FileStore
  /** Reception of uploaded files. */
  recepcion: Reception
  /** Signed links that open files. */
  enlacesDeArchivos: SignedLinks
  /** Signed links that open labels. */
  enlacesDeEtiquetas: SignedLinks
  /**
   * Maps for documents. Undefined unless the operator chose the tiles (`MAP_TILES_URL`), because the tiles of other
   * providers are not meant for this use.
   */
  mapas: DocumentMaps | undefined
  /** The threads that make documents. */
  hilos: ThreadPool<ServiceThreadTasks>
  /**
   * Turns in which links to labels are read. Each network has one turn, so that a caller who has only a link takes few
   * connections.
   */
  turnosDeEnlaces: OwnerTurns
  /** Labels drawn recently, for callers who open the same link again. */
  recientes: RecentDocuments
  /** Runs a recovery of webhook deliveries as a dry run. */
  ensayar: DryRun
  /** Cookies and origins of couriers' browsers. */
  navegador: Browser
  /** Limits of what callers may request, and at which rate. */
  limites: Limits
  /** Limit of failed sign-ins, by courier on a known phone, else by network. */
  limiteDeEntrada: NetworkLimit
  /** Limit of verifications of proofs, by network. */
  limiteDeVerificacion: NetworkLimit
  /**
   * Makes a courier's look-ups of codes run one after another. Each then sees how many unknown codes the earlier
   * look-ups have found.
   */
  turnosDeBusqueda: OwnerTurns
  /** Log of refused requests. */
  refusals: RefusalLog
  /** Audit record of changes to protected data, and of looks at it. */
  bitacora: Bitacora
  /** Times at which keys were last used. */
  usos: Usos
  salud: () => Promise<Salud>
}

/** Dependencies of an operation: the shared dependencies, and the contract's validation. */
export interface DepsDeOperacion extends Deps {
  validacion: Validation
}

/** Dependencies of a job: the shared dependencies, and more that only workers have. */
export interface DepsDeTrabajo extends Deps {
  /** Returns a random number from 0 to 1; only tests replace it. */
  azar: () => number
  enviador: Sender
  metricas: WebhookMetrics
  /** Undefined if `MESSAGING` is `buzon`: recipients of live guides are not asked. */
  clienteDeWhatsapp: ClienteDeWhatsapp | undefined
  /** Follows short map links to the places that they name. */
  enlacesCortos: ShortLinkResolver
  /**
   * Database over sessions whose commits do not wait for the disk. After a crash of the database, the work that these
   * sessions wrote last is done again.
   */
  dbSinEspera: Db
  /** Tells other processes that endpoints have due deliveries. */
  senalar: (webhooks: readonly ClaveDeWebhook[]) => void
  /** Tells the worker of a queue that the queue has jobs. */
  despertar: (cola: string) => void
  /** Reports that there is work, so that the queue is maintained more often than at rest. */
  hayTrabajo: () => void
}

/** Health of a process and of the services that it needs. */
export interface Salud {
  ok: boolean
  base_de_datos: boolean
  /** True if the database accepts writes. */
  escritura: boolean
  cola: boolean
  migraciones: boolean
}
