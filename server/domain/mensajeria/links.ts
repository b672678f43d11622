import type { Db } from '../../data/db.ts'
import { saveOwners } from '../../data/owners.ts'
import { HOUR_MS } from '../../platform/time/units.ts'
import type { MensajeDeps } from './row.ts'

/** Records the merchant of each link before the link's row is written. */
export const noteLinkOwners = (db: Db, rows: readonly { huella: string; comercio_id: string }[]) =>
  saveOwners(
    db,
    rows.map(({ huella, comercio_id }) => ({ key: huella, merchant: comercio_id })),
  )

/** Returns the id of the key that signs new links, and the instant until which new links are valid. */
export const linkOf = ({ secretos, settings }: MensajeDeps, now: Date) => ({
  kid: secretos.current('ubicacion').kid,
  vence_en: new Date(now.getTime() + settings.requestHours * HOUR_MS),
})
