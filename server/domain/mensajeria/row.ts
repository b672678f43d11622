import type { RowOf } from '../../data/db.ts'
import type { mensaje } from '../../generated/contract/prisma/client.ts'
import type { CanalDeMensaje, EstadoDeMensaje, Modo, TipoDeMensaje } from '../../generated/contract/types/index.ts'
import type { Deps } from '../deps.ts'

/** Row of `mensaje`; columns have the contract's names. */
export type MensajeRow = RowOf<
  mensaje,
  {
    modo: Modo
    canal: CanalDeMensaje
    tipo: TipoDeMensaje
    /** `enviando`: a process holds the message, with a lease until `proximo_en`. */
    estado: EstadoDeMensaje | 'enviando'
  }
>

/** Key of a message: its id and its merchant. */
export type MensajeKey = Pick<MensajeRow, 'id' | 'comercio_id'>

/** Dependencies for handing messages over to a channel. */
export type MensajeDeps = Pick<Deps, 'db' | 'clock' | 'secretos' | 'notifyJobs' | 'settings'>

/** Returns the ids of these messages. */
export const idsOf = (mensajes: readonly MensajeKey[]) => mensajes.map(({ id }) => id)
