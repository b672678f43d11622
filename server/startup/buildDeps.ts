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
import { Usos } from '../domain/llaves/usos.ts'
import { createDryRuns } from '../domain/webhooks/dryRun.ts'
import type { Modo } from '../generado/contrato/tipos/index.ts'
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
  reloj?: () => Date
  nuevoCodigo?: (primero?: string) => string
  resolver?: HostResolver
  /** Clock of the rate limits, in milliseconds. Only the difference between two times matters. */
  relojDeLimites?: () => number
}

/** Inputs, besides the configuration, from which {@link buildDeps} builds a process's dependencies. */
interface Cimientos
  extends Pick<Resources, 'db' | 'dbDeLectura' | 'dbImpaciente' | 'masterKeys' | 'almacen'>,
    DepsOverrides {
  /** Number of processes that share the limits at this moment. Default: 1. */
  procesos?: () => number
  log: Log
  vida: Lifetime
  metricas: Metrics
  /** Base of every link that the service gives out, without a final slash. */
  urlPublica: string
  /** Images of the brand. Without them, pages and documents show the brand's name. */
  imagenesDeMarca?: BrandImages
}

/**
 * Rate of failed sign-ins: 30 a minute per network, or per courier on phones where the courier's code was once valid. A
 * code has 50 random bits. With a thousand couriers, ten thousand networks together would guess one code in six years.
 * There is no limit over all networks, because strangers could then lock every courier out.
 */
const ENTRADAS = perMinute(30)
/**
 * Threads that make documents. A hundred labels take one thread a second the first time, and a third of that
 * afterwards, so two threads are enough for any machine. One core is left to the event loop. A thread takes 70 MB with
 * the first document and up to 180 MB at work. After a minute without work, the thread gives most of this memory back.
 */
const DOCUMENTOS = {
  modulo: new URL(import.meta.url.endsWith('.ts') ? 'server/startup/thread.ts' : 'server/generado/hilo.mjs', ROOT),
  cuantos: availableParallelism() > 2 ? 2 : 1,
  enEspera: 32,
  paciencia: 15_000,
  plazo: 60_000,
  ocio: 60_000,
}
/** Maximum links to labels that are read at the same time: one per network, two in all. */
const ENLACES = { porDueno: 1, todos: 2 }
/**
 * Bounds of the cache of drawn labels. A hundred labels take about 300 KB. A minute is also the time for which idle
 * threads are kept.
 */
const RECIENTES = { cuantos: 100, bytes: 32 * 1024 * 1024, vigencia: 60_000 }
/**
 * Rate of verifications by one network. The page and its API request count together. The rate is that of the tracking
 * page.
 */
const VERIFICACIONES = perMinute(120)

/** Creates the maps for documents, if the operator has configured map tiles. */
export const createMaps = ({ mosaicos }: Pick<Config, 'mosaicos'>, deps: Pick<Deps, 'reloj' | 'log'>): Deps['mapas'] =>
  mosaicos?.propios ? new DocumentMaps(mosaicos.url, deps) : undefined

/** Creates the threads that make documents. */
export const createThreads = (log: Log): Deps['hilos'] => new ThreadPool(log, DOCUMENTOS)

/** Builds the dependencies that operations, pages and jobs of a process share. */
export function buildDeps(config: Config, cimientos: Cimientos): Deps {
  const { db, dbDeLectura, dbImpaciente, log, masterKeys, almacen, vida, urlPublica, imagenesDeMarca } = cimientos
  const { reloj = () => new Date(), nuevoCodigo = newGuideCode, resolver = systemResolver } = cimientos
  const { procesos = () => 1, relojDeLimites: deLimites, metricas } = cimientos
  const delReparto = { procesos, ...(deLimites ? { reloj: deLimites } : {}) }
  const secretos = createSecrets(masterKeys)
  const nuevoId = createIdGenerator(reloj)
  const { notifyWork, dispatch } = vida
  const canalDe = (modo: Modo) => (modo === 'live' ? config.mensajeria.tipo : 'buzon')
  const deEnlaces = { secretos, reloj, urlPublica, minutos: config.minutosDeEnlaces }
  return {
    db,
    dbDeLectura,
    log,
    reloj,
    nuevoId,
    secretos,
    ajustes: settingsOf(config, urlPublica, imagenesDeMarca),
    cursores: createCursors(secretos),
    escritura: createGuideWriter({
      db,
      dbImpaciente,
      log,
      secretos,
      nuevoId,
      nuevoCodigo,
      avisarTrabajo: notifyWork,
      despachar: dispatch,
      canalDe,
    }),
    avisarTrabajo: notifyWork,
    destinos: { resolver, loopback: config.webhooksLoopback },
    canalDe,
    almacen: measureStore(almacen, metricas),
    recepcion: createReception(join(config.dataDir, 'subidas')),
    enlacesDeArchivos: createSignedLinks({ ...deEnlaces, carpeta: 'archivos' }),
    enlacesDeEtiquetas: createSignedLinks({ ...deEnlaces, carpeta: 'etiquetas' }),
    mapas: createMaps(config, { reloj, log }),
    hilos: createThreads(log),
    ensayar: createDryRuns(db),
    turnosDeEnlaces: createSharedTurns(ENLACES),
    recientes: new RecentDocuments(RECIENTES),
    navegador: createBrowser(urlPublica),
    limites: new Limits({
      ...delReparto,
      porOperador: config.ritmoDeOperador,
      porRed: config.ritmoDeRed,
      alDesconocer: (repartidor) => {
        log.warn({ repartidor }, 'unknown guides')
        metricas.desconocidas()
      },
    }),
    limiteDeEntrada: new NetworkLimit(ENTRADAS, delReparto),
    limiteDeVerificacion: new NetworkLimit(VERIFICACIONES, delReparto),
    turnosDeBusqueda: createOwnerTurns(1),
    refusals: new RefusalLog(log),
    metricas,
    bitacora: new Bitacora({ db, log, nuevoId }),
    usos: new Usos(db, log),
    salud: () => vida.health(),
  }
}

/**
 * Returns the settings that operations, pages and jobs read: some members of the configuration, the public URL and the
 * brand.
 */
export const settingsOf = (config: Config, urlPublica: string, imagenes = NO_IMAGES): ServiceSettings =>
  Object.freeze({
    alcanceDeRepartidor: config.alcanceDeRepartidor,
    buzon: config.buzon,
    contactoDeSeguridad: config.contactoDeSeguridad,
    horasDeSolicitud: config.horasDeSolicitud,
    inactividadDeCaja: config.inactividadDeCaja,
    inactividadDeComercio: config.inactividadDeComercio,
    inactividadDeEmpresa: config.inactividadDeEmpresa,
    mensajeria: config.mensajeria,
    mosaicos: config.mosaicos,
    proxies: config.proxies,
    respaldo: config.respaldo?.carpeta,
    retencionDePersonas: config.retencionDePersonas,
    retencionDePruebas: config.retencionDePruebas,
    retencionDeUbicaciones: config.retencionDeUbicaciones,
    retencionDeWebhooks: config.retencionDeWebhooks,
    zonaHoraria: config.zonaHoraria,
    urlPublica,
    urlDePersonas: byName(urlPublica),
    sinCorreo: config.correo === undefined,
    marca: brandOf(config, imagenes),
    demostracion: config.baseDeDatos.tipo === 'embebida' && exposure(config).length === 0,
  })
