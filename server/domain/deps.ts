import type { Validacion } from '../api/contract/validation.ts'
import type { Navegador } from '../api/http/browser.ts'
import type { RefusalLog } from '../api/http/refusalLog.ts'
import type { TurnosPorDueno } from '../api/http/turns.ts'
import type { Limites } from '../api/limits/limits.ts'
import type { LimitePorRed } from '../api/limits/networkLimit.ts'
import type { Cursores } from '../api/lists/cursor.ts'
import type { Db } from '../data/db.ts'
import type { Lectura } from '../data/replica.ts'
import type { CanalDeMensaje, Modo } from '../generado/contrato/tipos/index.ts'
import type { Marca } from '../platform/brand/brand.ts'
import type { Config } from '../platform/config/config.ts'
import type { Almacen } from '../platform/files/store.ts'
import type { Log } from '../platform/log.ts'
import type { ResolutorDeEnlaces } from '../platform/maps/shortLinks.ts'
import type { Politica } from '../platform/outbound/destination.ts'
import type { Secretos } from '../platform/secrets.ts'
import type { Recientes } from '../platform/threads/recent.ts'
import type { Hilos } from '../platform/threads/threads.ts'
import type { Enlaces } from './archivos/links.ts'
import type { Recepcion } from './archivos/reception.ts'
import type { Bitacora } from './bitacora/bitacora.ts'
import type { Escritura } from './guias/writing.ts'
import type { Usos } from './llaves/usos.ts'
import type { ClienteDeWhatsapp } from './mensajeria/whatsapp.ts'
import type { TareasDeHilo } from './threadTasks.ts'
import type { Ensayar } from './webhooks/dryRun.ts'
import type { MetricasDeWebhooks } from './webhooks/metrics.ts'
import type { Enviador } from './webhooks/sender.ts'
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

/** The part of the configuration that operations, pages and jobs read. */
export interface Ajustes extends Pick<Config, DeLaConfig> {
  /** Base of every link that the service gives out, without a final slash. */
  readonly urlPublica: string
  readonly marca: Marca
  /** True if demo keys and demo codes are valid: in the embedded default that no other machine reaches. */
  readonly demostracion: boolean
}

/** Dependencies that a process builds once and that all its parts share. No module keeps state of its own. */
export interface Deps {
  db: Db
  /** Database or replica for reads that may be some seconds old. */
  dbDeLectura: Lectura
  log: Log
  reloj: () => Date
  /** Returns an id, a strictly increasing UUIDv7, and the instant inside it. */
  nuevoId: () => { id: string; creado_en: Date }
  secretos: Secretos
  ajustes: Ajustes
  cursores: Cursores
  escritura: Escritura
  avisarTrabajo: AvisarTrabajo
  /** Rules about the addresses to which webhooks may lead. */
  destinos: Politica
  /** Returns the channel by which recipients of guides of a mode are asked for their place. */
  canalDe: (modo: Modo) => CanalDeMensaje
  /** Storage of files. */
  almacen: Almacen
  /** Reception of uploaded files. */
  recepcion: Recepcion
  /** Signed links that open files. */
  enlacesDeArchivos: Enlaces
  /** Signed links that open labels. */
  enlacesDeEtiquetas: Enlaces
  /** The threads that make documents. */
  hilos: Hilos<TareasDeHilo>
  /**
   * Turns in which links to labels are read. Each network has one turn, so that a caller who has only a link takes few
   * connections.
   */
  turnosDeEnlaces: TurnosPorDueno
  /** Labels drawn recently, for callers who open the same link again. */
  recientes: Recientes
  /** Runs a recovery of webhook deliveries as a dry run. */
  ensayar: Ensayar
  /** Cookies and origins of couriers' browsers. */
  navegador: Navegador
  /** Limits of what callers may request, and at which rate. */
  limites: Limites
  /** Limit of failed sign-ins, by courier on a known phone, else by network. */
  limiteDeEntrada: LimitePorRed
  /** Limit of verifications of proofs, by network. */
  limiteDeVerificacion: LimitePorRed
  /**
   * Turns of a courier's look-ups of codes. They run one after another, so that each sees the cost of the one before.
   */
  turnosDeBusqueda: TurnosPorDueno
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
  validacion: Validacion
}

/** Dependencies of a job: the shared dependencies, and more that only workers have. */
export interface DepsDeTrabajo extends Deps {
  /** Returns a number from 0 to 1. */
  azar: () => number
  enviador: Enviador
  metricas: MetricasDeWebhooks
  /** Undefined if `MESSAGING` is `buzon`: recipients of live guides are not asked. */
  clienteDeWhatsapp: ClienteDeWhatsapp | undefined
  /** Follows short map links to the places that they name. */
  enlacesCortos: ResolutorDeEnlaces
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
