import type { Db } from '../../data/db.ts'
import { noteOwners } from '../../data/owners.ts'
import type { DepsDeMensajes } from './row.ts'

/** Records the merchant of each link before the link's row is written. */
export const anotarEnlaces = (db: Db, filas: readonly { huella: string; comercio_id: string }[]) =>
  noteOwners(
    db,
    filas.map(({ huella, comercio_id }) => ({ key: huella, merchant: comercio_id })),
  )

/** Returns the id of the key that signs new links, and the instant until which new links are valid. */
export const enlaceDe = ({ secretos, ajustes }: DepsDeMensajes, ahora: Date) => ({
  kid: secretos.presente('ubicacion').kid,
  vence_en: new Date(ahora.getTime() + ajustes.horasDeSolicitud * 3_600_000),
})
