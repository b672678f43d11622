import type { CanalDeMensaje, Modo } from './contrato/generado/tipos/index.ts'
import type { Validacion } from './contrato/validacion.ts'
import type { Cursores } from './cursor.ts'
import type { Db } from './db.ts'
import type { Escritura } from './guias/escritura.ts'
import type { Log } from './log.ts'
import type { ConfigDeWhatsapp } from './mensajeria/whatsapp.ts'
import type { Secretos } from './secretos.ts'
import type { Politica } from './webhooks/destino.ts'

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
  retencionDeEntregas: number
  /** How a recipient of that mode is asked for the place. */
  canalDe: (modo: Modo) => CanalDeMensaje
  /** What the messaging provider and we share; undefined: there is none. */
  whatsapp: Pick<ConfigDeWhatsapp, 'appSecret' | 'verifyToken'> | undefined
  salud: () => Promise<Salud>
}

export interface Salud {
  ok: boolean
  base_de_datos: boolean
  cola: boolean
  migraciones: boolean
}
