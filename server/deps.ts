import type { Almacen } from './archivos/almacen.ts'
import type { Enlaces } from './archivos/enlaces.ts'
import type { Recepcion } from './archivos/recepcion.ts'
import type { Bitacora } from './bitacora/bitacora.ts'
import type { Config } from './config/config.ts'
import type { CanalDeMensaje, Modo } from './contrato/generado/tipos/index.ts'
import type { Validacion } from './contrato/validacion.ts'
import type { Db } from './db.ts'
import type { Escritura } from './guias/escritura.ts'
import type { TareasDeHilo } from './hilo.ts'
import type { Hilos } from './hilos/hilos.ts'
import type { Recientes } from './hilos/recientes.ts'
import type { Navegador } from './http/navegador.ts'
import type { RefusalLog } from './http/refusalLog.ts'
import type { TurnosPorDueno } from './http/turnos.ts'
import type { Limites } from './limites/limites.ts'
import type { LimitePorRed } from './limites/porRed.ts'
import type { Cursores } from './listas/cursor.ts'
import type { Usos } from './llaves/usos.ts'
import type { Log } from './log.ts'
import type { ResolutorDeEnlaces } from './mapas/enlacesCortos.ts'
import type { Marca } from './marca/marca.ts'
import type { ClienteDeWhatsapp } from './mensajeria/whatsapp.ts'
import type { Lectura } from './replica.ts'
import type { Politica } from './salida/destino.ts'
import type { Secretos } from './secretos.ts'
import type { Ensayar } from './webhooks/ensayo.ts'
import type { Enviador } from './webhooks/envio.ts'
import type { MetricasDeWebhooks } from './webhooks/metricas.ts'
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
