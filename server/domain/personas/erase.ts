import { inTransaction, statement } from '../../data/db.ts'
import { runInEachPart } from '../../data/partQueries.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import { eraseSearchKeys } from '../busqueda/busqueda.ts'
import type { Deps } from '../deps.ts'
import { eraseNotas } from '../notas/nota.ts'
import { DELETE_GUIA_DATA, de, type ErasedGuide, HAS_ENDED } from './persona.ts'

const MAX_GUIAS_PER_STATEMENT = 500

/**
 * Erases the personal data of guides that ended before `before`. Proofs have their own retention period
 * (`server/domain/pruebasEntrega/erase.ts`), but lose their places, as the guide does. The retention of places finds
 * no guide without a place.
 */
const ERASE_OLD = statement<{ before: Date; now: Date }, ErasedGuide>(
  'personas.eraseOld',
  'part',
  `with v as (
     select comercio_id, modo, id from guia where datos_borrados_en is null and ${HAS_ENDED} and estado_en < :before
     order by estado_en limit ${MAX_GUIAS_PER_STATEMENT} for update skip locked
   ), p as (
     update prueba_entrega p set lat = null, lng = null, precision_m = null, distancia_m = null from v where ${de('p')}
   ), a as (
     update archivo a set lat = null, lng = null from v where ${de('a')}
   ), ${DELETE_GUIA_DATA}`,
)

/**
 * Erases personal data of the next guides whose retention period is over; none if no such guide exists.
 * @returns true if more guides may be due
 */
export async function eraseOldPersonas({
  db,
  clock,
  log,
  settings,
}: Pick<Deps, 'db' | 'clock' | 'log' | 'settings'>): Promise<boolean> {
  const now = clock()
  const before = new Date(now.getTime() - settings.personaRetention * DAY_MS)
  const erasedCounts = await runInEachPart(db, (part) =>
    inTransaction(part, async (query) => {
      const erasedGuias = await query(ERASE_OLD, { before, now })
      if (erasedGuias.length > 0) {
        await eraseSearchKeys(query, erasedGuias)
        await eraseNotas(query, erasedGuias)
      }
      return erasedGuias.length
    }),
  )
  const guias = erasedCounts.reduce((sum, erased) => sum + erased, 0)
  if (guias > 0) log.info({ guias }, 'personal data erased')
  return erasedCounts.includes(MAX_GUIAS_PER_STATEMENT)
}
