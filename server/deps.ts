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
  /** Base of every link given out, without a final slash. */
  readonly urlPublica: string
  readonly marca: Marca
  /** True where keys and codes made for a first try are good: in the embedded default that no other machine reaches. */
  readonly demostracion: boolean
}

/** The parts that a process builds once and everybody in it shares. No module keeps state of its own. */
export interface Deps {
  db: Db
  /** Where what may be some seconds old is read. */
  dbDeLectura: Lectura
  log: Log
  reloj: () => Date
  /** Strictly increasing UUIDv7 and the instant inside it. */
  nuevoId: () => { id: string; creado_en: Date }
  secretos: Secretos
  ajustes: Ajustes
  cursores: Cursores
  escritura: Escritura
  avisarTrabajo: AvisarTrabajo
  /** Where webhooks may lead to. */
  destinos: Politica
  /** How a recipient of that mode is asked for the place. */
  canalDe: (modo: Modo) => CanalDeMensaje
  /** Where files are kept. */
  almacen: Almacen
  /** How files come in. */
  recepcion: Recepcion
  /** The signed links that open files. */
  enlacesDeArchivos: Enlaces
  /** The signed links that open labels. */
  enlacesDeEtiquetas: Enlaces
  /** The threads that make documents. */
  hilos: Hilos<TareasDeHilo>
  /** Links to labels are read in turns, of which each network has one: whoever has only a link takes few connections. */
  turnosDeEnlaces: TurnosPorDueno
  /** Labels drawn lately, for whoever opens the same link again. */
  recientes: Recientes
  /** Dry runs of recoveries. */
  ensayar: Ensayar
  /** What is between us and a courier's browser. */
  navegador: Navegador
  /** What everybody may ask for, and how fast. */
  limites: Limites
  /** Failed sign-ins of a known phone, or else of its network. */
  limiteDeEntrada: LimitePorRed
  /** Verifications of proofs by network. */
  limiteDeVerificacion: LimitePorRed
  /** Look-ups of codes by a courier run one after another, so that each sees what the one before was charged. */
  turnosDeBusqueda: TurnosPorDueno
  /** Log of refused requests. */
  refusals: RefusalLog
  /** Who changed or looked at what is protected. */
  bitacora: Bitacora
  /** When keys were last used. */
  usos: Usos
  salud: () => Promise<Salud>
}

/** What an operation may use: everybody's parts, and the contract's validation. */
export interface DepsDeOperacion extends Deps {
  validacion: Validacion
}

/** What a job may use: everybody's parts, and what only workers hold. */
export interface DepsDeTrabajo extends Deps {
  /** From 0 to 1. */
  azar: () => number
  enviador: Enviador
  metricas: MetricasDeWebhooks
  /** Undefined where `MESSAGING` is the mailbox: live recipients are not asked. */
  clienteDeWhatsapp: ClienteDeWhatsapp | undefined
  /** Follows short map links to the places that they name. */
  enlacesCortos: ResolutorDeEnlaces
  /** The database by sessions whose commits don't wait for the disk: if it crashes, what they wrote last is done again. */
  dbSinEspera: Db
  /** Tells other processes that endpoints have deliveries due. */
  senalar: (webhooks: readonly ClaveDeWebhook[]) => void
  /** Tells whoever does a queue's jobs that there are some. */
  despertar: (cola: string) => void
  /** Tells that there is work: the queue is looked after more often than at rest. */
  hayTrabajo: () => void
}

/** Whether a process and what it stands on work. */
export interface Salud {
  ok: boolean
  base_de_datos: boolean
  /** True if the database takes writes. */
  escritura: boolean
  cola: boolean
  migraciones: boolean
}
