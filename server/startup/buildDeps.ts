import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createBrowser } from '../api/http/browser.ts'
import { RefusalLog } from '../api/http/refusalLog.ts'
import { createOwnerTurns, createSharedTurns } from '../api/http/turns.ts'
import { perMinute } from '../api/limits/buckets.ts'
import { Limits } from '../api/limits/limits.ts'
import { NetworkLimit } from '../api/limits/networkLimit.ts'
import { createCursors } from '../api/lists/cursor.ts'
import { createSignedLinks } from '../domain/archivos/links.ts'
import { measureStore } from '../domain/archivos/measuredStore.ts'
import { createReception } from '../domain/archivos/reception.ts'
import { Bitacora } from '../domain/bitacora/bitacora.ts'
import type { Deps, ServiceSettings } from '../domain/deps.ts'
import { createGuideWriter } from '../domain/guias/writing.ts'
import { LlaveUses } from '../domain/llaves/uses.ts'
import { createDryRuns } from '../domain/webhooks/dryRun.ts'
import type { Modo } from '../generated/contract/types/index.ts'
import { type BrandImages, brandOf, NO_IMAGES } from '../platform/brand/brand.ts'
import { createIdGenerator, newGuideCode } from '../platform/codes/codes.ts'
import type { Config } from '../platform/config/config.ts'
import { byName, exposure } from '../platform/config/exposure.ts'
import type { Log } from '../platform/log.ts'
import { DocumentMaps } from '../platform/maps/documentMaps.ts'
import { type HostResolver, systemResolver } from '../platform/outbound/destination.ts'
import { ROOT } from '../platform/root.ts'
import { createSecrets } from '../platform/secrets.ts'
import { RecentDocuments } from '../platform/threads/recent.ts'
import { ThreadPool } from '../platform/threads/threads.ts'
import type { Lifetime } from './lifetime.ts'
import type { Metrics } from './metrics.ts'
import type { Resources } from './resources.ts'

/** Replacements that only tests pass: clock, codes of guides, name resolution. */
export interface DepsOverrides {
  clock?: () => Date
  newCode?: (firstCharacter?: string) => string
  resolver?: HostResolver
  /** Clock of the rate limits, in milliseconds. Only the difference between two times matters. */
  limitsClock?: () => number
}

/** Inputs, besides the configuration, from which {@link buildDeps} builds a process's dependencies. */
interface Foundations extends Pick<Resources, 'db' | 'readDb' | 'impatientDb' | 'masterKeys' | 'store'>, DepsOverrides {
  /** Number of processes that share the limits at this moment. Default: 1. */
  processes?: () => number
  log: Log
  lifetime: Lifetime
  metrics: Metrics
  /** Base of every link that the service gives out, without a final slash. */
  publicUrl: string
  /** Images of the brand. Without them, pages and documents show the brand's name. */
  brandImages?: BrandImages
}

/**
 * Rate of failed sign-ins: 30 a minute per network, or per courier on phones where the courier's code was once valid. A
 * code has 50 random bits. With a thousand couriers, ten thousand networks together would guess one code in six years.
 * There is no limit over all networks, because strangers could then lock every courier out.
 */
const SIGN_IN_RATE = perMinute(30)
/**
 * Threads that make documents. A thread needs 1 s for its first hundred labels, and 0.3 s for each later hundred. Two
 * threads are therefore enough. On machines with at most two cores, one thread leaves a core to the event loop. A
 * thread uses 70 MB after the first document and up to 180 MB at work. It frees most of this memory after a minute
 * without work.
 */
const DOCUMENT_THREADS = {
  moduleUrl: new URL(
    import.meta.url.endsWith('.ts') ? 'server/startup/thread.ts' : 'server/generated/thread.mjs',
    ROOT,
  ),
  count: availableParallelism() > 2 ? 2 : 1,
  waiting: 32,
  patience: 15_000,
  timeout: 60_000,
  idleMs: 60_000,
}
/** Maximum links to labels that are read at the same time: one per network, two in all. */
const LINK_TURNS = { perOwner: 1, overall: 2 }
/**
 * Bounds of the cache of drawn labels. A hundred labels take about 300 KB. A minute is also the time for which idle
 * threads are kept.
 */
const RECENT_DOCUMENTS = { count: 100, bytes: 32 * 1024 * 1024, ttl: 60_000 }
/**
 * Rate of verifications by one network. The page and its API request count together. The rate is that of the tracking
 * page.
 */
const VERIFICATION_RATE = perMinute(120)

/** Creates the maps for documents, if the operator has configured map tiles. */
export const createMaps = ({ tiles }: Pick<Config, 'tiles'>, deps: Pick<Deps, 'clock' | 'log'>): Deps['maps'] =>
  tiles?.selfHosted ? new DocumentMaps(tiles.url, deps) : undefined

/** Creates the threads that make documents. */
export const createThreads = (log: Log): Deps['threads'] => new ThreadPool(log, DOCUMENT_THREADS)

/** Builds the dependencies that operations, pages and jobs of a process share. */
export function buildDeps(config: Config, foundations: Foundations): Deps {
  const { db, readDb, impatientDb, log, masterKeys, store, lifetime, publicUrl, brandImages } = foundations
  const { clock = () => new Date(), newCode = newGuideCode, resolver = systemResolver } = foundations
  const { processes = () => 1, limitsClock: limitsTime, metrics } = foundations
  const bucketOptions = { processes, ...(limitsTime ? { clock: limitsTime } : {}) }
  const secretos = createSecrets(masterKeys)
  const newId = createIdGenerator(clock)
  const { notifyJobs, dispatch } = lifetime
  const channelOf = (modo: Modo) => (modo === 'live' ? config.mensajeria.tipo : 'buzon')
  const linkOptions = { secretos, clock, publicUrl, minutes: config.linkMinutes }
  return {
    db,
    readDb,
    log,
    clock,
    newId,
    secretos,
    settings: settingsOf(config, publicUrl, brandImages),
    cursors: createCursors(secretos),
    escritura: createGuideWriter({
      db,
      impatientDb,
      log,
      secretos,
      newId,
      newCode,
      notifyJobs,
      dispatch,
      channelOf,
    }),
    notifyJobs,
    destinations: { resolver, loopback: config.webhooksLoopback },
    channelOf,
    store: measureStore(store, metrics),
    reception: createReception(join(config.dataDir, 'subidas')),
    archivoLinks: createSignedLinks({ ...linkOptions, folder: 'archivos' }),
    etiquetaLinks: createSignedLinks({ ...linkOptions, folder: 'etiquetas' }),
    maps: createMaps(config, { clock, log }),
    threads: createThreads(log),
    dryRun: createDryRuns(db),
    linkTurns: createSharedTurns(LINK_TURNS),
    recentDocuments: new RecentDocuments(RECENT_DOCUMENTS),
    browser: createBrowser(publicUrl),
    limits: new Limits({
      ...bucketOptions,
      perOperador: config.operadorRate,
      perNetwork: config.networkRate,
      onUnknown: (repartidor) => {
        log.warn({ repartidor }, 'unknown guides')
        metrics.desconocidas()
      },
    }),
    signInLimit: new NetworkLimit(SIGN_IN_RATE, bucketOptions),
    verificationLimit: new NetworkLimit(VERIFICATION_RATE, bucketOptions),
    searchTurns: createOwnerTurns(1),
    refusals: new RefusalLog(log),
    metrics,
    bitacora: new Bitacora({ db, log, newId }),
    usages: new LlaveUses(db, log),
    health: () => lifetime.health(),
  }
}

/**
 * Returns the settings that operations, pages and jobs read: some members of the configuration, the public URL and the
 * brand.
 */
export const settingsOf = (config: Config, publicUrl: string, images = NO_IMAGES): ServiceSettings =>
  Object.freeze({
    repartidorReach: config.repartidorReach,
    buzon: config.buzon,
    securityContact: config.securityContact,
    requestHours: config.requestHours,
    cajaIdleMinutes: config.cajaIdleMinutes,
    comercioIdleHours: config.comercioIdleHours,
    companyIdleMinutes: config.companyIdleMinutes,
    mensajeria: config.mensajeria,
    tiles: config.tiles,
    proxies: config.proxies,
    backup: config.backup?.folder,
    personaRetention: config.personaRetention,
    pruebaRetention: config.pruebaRetention,
    ubicacionRetention: config.ubicacionRetention,
    webhookRetention: config.webhookRetention,
    timeZone: config.timeZone,
    restDays: config.restDays,
    publicUrl,
    urlDePersonas: byName(publicUrl),
    lacksMail: config.correo === undefined,
    brand: brandOf(config, images),
    demostracion: config.database.tipo === 'embebida' && exposure(config).length === 0,
  })
