import { inTransaction, statement } from '../../data/db.ts'
import type { Deps } from '../deps.ts'
import { notifyDecision } from '../equipo/members/approvable.ts'
import { type AprobacionRow, readAprobacionContent } from '../equipo/members/aprobacion.ts'

/** Days for which an approval's row is kept after it expires. */
const RETENTION_DAYS = 30

/**
 * Erases the content of expired approvals, and returns the erased content. Skips rows that a decision has locked; the
 * next run erases them.
 */
const EMPTY = statement<{ now: Date }, Pick<AprobacionRow, 'id' | 'tipo' | 'pide' | 'contenido'>>(
  'aprobaciones.empty',
  'central',
  `with v as (
     select id, contenido from aprobacion where contenido is not null and vence_en <= :now
     order by id for update skip locked
   )
   update aprobacion a set contenido = null from v where a.id = v.id returning a.id, a.tipo, a.pide, v.contenido`,
)

const PURGE = statement<{ now: Date }>(
  'aprobaciones.purge',
  'central',
  `delete from aprobacion where vence_en <= :now::timestamptz - interval '${RETENTION_DAYS} days'`,
)

/** Erases the content of expired approvals, tells the persons who asked, and deletes old rows. */
export async function purgeAprobaciones(
  deps: Pick<Deps, 'db' | 'clock' | 'secretos' | 'newId' | 'settings' | 'notifyJobs'>,
): Promise<void> {
  const { db, clock, secretos, notifyJobs } = deps
  const expiredCount = await inTransaction(db.central, async (query) => {
    const rows = await query(EMPTY, { now: clock() })
    for (const row of rows) {
      const contenido = readAprobacionContent(secretos, row)
      if (contenido) await notifyDecision(query, deps, { ...row, contenido }, { quien: null, razon: null })
    }
    return rows.length
  })
  if (expiredCount > 0) notifyJobs()
  await db.query(PURGE, { now: clock() })
}
