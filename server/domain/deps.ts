import type { Validation } from '../api/contract/validation.ts'
import type { Browser } from '../api/http/browser.ts'
import type { RefusalLog } from '../api/http/refusalLog.ts'
import type { RequestMetrics } from '../api/http/requestMetrics.ts'
import type { OwnerTurns } from '../api/http/turns.ts'
import type { Limits } from '../api/limits/limits.ts'
import type { NetworkLimit } from '../api/limits/networkLimit.ts'
import type { Cursors } from '../api/lists/cursor.ts'
import type { Db } from '../data/db.ts'
import type { ReadDb } from '../data/replica.ts'
import type { CanalDeMensaje, Modo } from '../generated/contract/types/index.ts'
import type { Brand } from '../platform/brand/brand.ts'
import type { Config } from '../platform/config/config.ts'
import type { FileStore } from '../platform/files/store.ts'
import type { Log } from '../platform/log.ts'
import type { MailClient } from '../platform/mail/smtp.ts'
import type { DocumentMaps } from '../platform/maps/documentMaps.ts'
import type { ShortLinkResolver } from '../platform/maps/shortLinks.ts'
import type { OutboundPolicy } from '../platform/outbound/destination.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { RecentDocuments } from '../platform/threads/recent.ts'
import type { ThreadPool } from '../platform/threads/threads.ts'
import type { Timers } from '../platform/time/timers.ts'
import type { SignedLinks } from './archivos/links.ts'
import type { FileMetrics } from './archivos/metrics.ts'
import type { Reception } from './archivos/reception.ts'
import type { Bitacora } from './bitacora/bitacora.ts'
import type { MailMetrics } from './correos/metrics.ts'
import type { GuideWriter } from './guias/writing.ts'
import type { LlaveUses } from './llaves/uses.ts'
import type { MessageMetrics } from './mensajeria/metrics.ts'
import type { WhatsappClient } from './mensajeria/whatsapp.ts'
import type { NotifyJobs, WebhookKey } from './records/webhookKey.ts'
import type { ServiceThreadTasks } from './threadTasks.ts'
import type { DryRun } from './webhooks/dryRun.ts'
import type { WebhookMetrics } from './webhooks/metrics.ts'
import type { Sender } from './webhooks/sending/sender.ts'

type ServiceConfigKey =
  | 'repartidorReach'
  | 'buzon'
  | 'securityContact'
  | 'requestHours'
  | 'cajaIdleMinutes'
  | 'comercioIdleHours'
  | 'companyIdleMinutes'
  | 'mensajeria'
  | 'tiles'
  | 'proxies'
  | 'personaRetention'
  | 'pruebaRetention'
  | 'ubicacionRetention'
  | 'webhookRetention'
  | 'timeZone'
  | 'restDays'

/** Settings that operations, pages and jobs read: some members of the configuration, the public URL and the brand. */
export interface ServiceSettings extends Pick<Config, ServiceConfigKey> {
  /** Folder of the continuous backup; undefined if there is none. */
  readonly backup: string | undefined
  /** Base of every link that the service gives out, without a final slash. */
  readonly publicUrl: string
  /**
   * Base of links that persons open. On a local machine it names `localhost`, because passkeys do not work for IP
   * addresses.
   */
  readonly urlDePersonas: string
  /** True if no mail server is configured. */
  readonly lacksMail: boolean
  readonly brand: Brand
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
  readDb: ReadDb
  log: Log
  clock: () => Date
  /** Creates an id (a strictly increasing UUIDv7), and returns it with the time that it contains. */
  newId: () => { id: string; creado_en: Date }
  secretos: Secrets
  settings: ServiceSettings
  cursors: Cursors
  escritura: GuideWriter
  notifyJobs: NotifyJobs
  /** Rules for the addresses to which webhooks may be sent. */
  destinations: OutboundPolicy
  /**
   * Returns the channel through which recipients are asked for their location, by the mode (test or live) of the guide.
   */
  channelOf: (modo: Modo) => CanalDeMensaje
  /** File storage. */
  store: FileStore
  /** Receiver of uploaded files. */
  reception: Reception
  /** Signer and verifier of links to files. */
  archivoLinks: SignedLinks
  /** Signer and verifier of links to labels. */
  etiquetaLinks: SignedLinks
  /**
   * Maps for documents. Undefined unless the operator chose the tiles (`MAP_TILES_URL`), because the tiles of other
   * providers are not meant for this use.
   */
  maps: DocumentMaps | undefined
  /** Worker threads that make documents. */
  threads: ThreadPool<ServiceThreadTasks>
  /**
   * Queue of requests that open links to labels. Requests of one network run one after another, so that a caller with
   * only a link uses few connections.
   */
  linkTurns: OwnerTurns
  /** Cache of recently drawn labels, for links that are opened again. */
  recentDocuments: RecentDocuments
  /** Computes what a recovery of webhook deliveries would send, without sending. */
  dryRun: DryRun
  /** Cookies and allowed origins of couriers' browsers. */
  browser: Browser
  /** Rate limits and other limits of callers. */
  limits: Limits
  /** Limit of failed sign-ins, counted by courier on a known phone, and otherwise by network. */
  signInLimit: NetworkLimit
  /** Limit of verifications of proofs, counted by network. */
  verificationLimit: NetworkLimit
  /**
   * Queue in which each courier's look-ups of codes run one after another. Each look-up then knows how many unknown
   * codes the earlier ones have tried.
   */
  searchTurns: OwnerTurns
  /** Log of rejected requests. */
  refusals: RefusalLog
  metrics: RequestMetrics
  /** Audit record of changes to protected data, and of reads of it. */
  bitacora: Bitacora
  /** Records when keys were last used. */
  usages: LlaveUses
  health: () => Promise<Health>
}

/** Dependencies of an operation: the shared dependencies, and the contract's validation. */
export interface OperacionDeps extends Deps {
  validacion: Validation
}

/** Dependencies of a job: the shared dependencies, and more that only workers have. */
export interface JobDeps extends Deps {
  /** Returns a random number from 0 to 1; only tests replace it. */
  random: () => number
  /** Monotonic time and timers of the webhooks' sender; only tests replace them. */
  timers: Timers
  sender: Sender
  metrics: RequestMetrics & WebhookMetrics & MailMetrics & MessageMetrics & FileMetrics
  /**
   * Sender of WhatsApp messages. Undefined if `MESSAGING` is `buzon` (a local mailbox): the service then asks no
   * recipient of a live guide for the location.
   */
  whatsappClient: WhatsappClient | undefined
  /** Sender of mails. Undefined without `SMTP_URL`: mails then go to the local mailbox, or wait. */
  mailClient: MailClient | undefined
  /** Resolves short map links to the places that they lead to. */
  shortLinks: ShortLinkResolver
  /**
   * Database with sessions whose commits do not wait for the disk. If the database crashes, the last work of these
   * sessions is lost and done again.
   */
  noWaitDb: Db
  /** Tells other processes that webhook endpoints have due deliveries. */
  signalWebhooks: (webhooks: readonly WebhookKey[]) => void
  /** Tells the worker of a queue that it has jobs. */
  wake: (queue: string) => void
  /** Reports that there is work, so that the queue's maintenance runs more often. */
  announceWork: () => void
}

/** Health of a process and of the services that it needs. */
export interface Health {
  ok: boolean
  base_de_datos: boolean
  /** True if the database accepts writes. */
  escritura: boolean
  cola: boolean
  migraciones: boolean
}
