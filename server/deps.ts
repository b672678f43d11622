import type { Almacen } from './archivos/almacen.ts'
import type { Enlaces } from './archivos/enlaces.ts'
import type { Recepcion } from './archivos/recepcion.ts'
import type { CanalDeMensaje, Modo } from './contrato/generado/tipos/index.ts'
import type { Validacion } from './contrato/validacion.ts'
import type { Db } from './db.ts'
import type { Escritura } from './guias/escritura.ts'
import type { Limite } from './http/limite.ts'
import type { Navegador } from './http/navegador.ts'
import type { Turnos } from './http/turnos.ts'
import type { Cursores } from './listas/cursor.ts'
import type { Log } from './log.ts'
import type { ConfigDeWhatsapp } from './mensajeria/whatsapp.ts'
import type { Politica } from './salida/destino.ts'
import type { Secretos } from './secretos.ts'

/** What the composition root builds and hands to every operation. No module keeps state of its own. */
export interface Deps {
  db: Db
  log: Log
  reloj: () => Date
  /** Strictly increasing UUIDv7 and the instant inside it. */
  nuevoId: () => { id: string; creado_en: Date }
  secretos: Secretos
  cursores: Cursores
  validacion: Validacion
  escritura: Escritura
  /** Says that rows of pending work were committed, so that the feeder need not wait for its next round. */
  avisarTrabajo: () => void
  /** Where webhooks may be registered. */
  destinos: Politica
  /** For how many days it is known what became of a webhook's deliveries. */
  retencionDeWebhooks: number
  /** How a recipient of that mode is asked for the place. */
  canalDe: (modo: Modo) => CanalDeMensaje
  /** How long a recipient's link is good for, in hours. */
  horasDeSolicitud: number
  /** What the messaging provider and we share; undefined: there is none. */
  whatsapp: Pick<ConfigDeWhatsapp, 'appSecret' | 'verifyToken'> | undefined
  /** Where files are kept, how they come in, and the links that open them. */
  almacen: Almacen
  recepcion: Recepcion
  enlaces: Enlaces
  /** What is between us and a courier's browser. */
  navegador: Navegador
  /** Of sign-ins, by the network. */
  limiteDeEntrada: Limite
  /** The links that open labels, and the turns in which those are drawn. */
  enlacesDeEtiquetas: Enlaces
  turnoDeEtiquetas: Turnos
  /** Base of every link given out, without a final slash. */
  urlPublica: string
  /** The courier company, as its documents name it. */
  nombreDeMensajeria: string
  /** Of questions about proofs, by the network. */
  limiteDeVerificacion: Limite
  /** In which documents and pages tell times; undefined: the destination's country's. */
  zonaHoraria: string | undefined
  salud: () => Promise<Salud>
}

export interface Salud {
  ok: boolean
  base_de_datos: boolean
  cola: boolean
  migraciones: boolean
}
