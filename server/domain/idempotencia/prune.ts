import { statement } from '../../data/db.ts'
import { runInEachPart } from '../../data/partQueries.ts'
import type { Deps } from '../deps.ts'
import { KEY_LIFETIME_MS } from './idempotencia.ts'

/** Maximum number of rows per statement, which keeps all transactions short. */
const MAX_ROWS_PER_STATEMENT = 2_000

const DELETE = statement<{ hasta: Date }>(
  'idempotencia.delete',
  'part',
  `with v as (
     select comercio_id, modo, operacion, idempotencia from clave_idempotencia where creado_en <= :hasta
     order by creado_en limit ${MAX_ROWS_PER_STATEMENT}
   )
   delete from clave_idempotencia c using v where c.comercio_id = v.comercio_id and c.modo = v.modo
     and c.operacion = v.operacion and c.idempotencia = v.idempotencia and c.creado_en <= :hasta returning 1`,
)

/**
 * Deletes one batch of expired idempotency keys. Two processes may run it at the same time.
 * @returns true if there may be more
 */
export async function purgeKeys({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<boolean> {
  const hasta = new Date(clock().getTime() - KEY_LIFETIME_MS)
  const deletedByPart = await runInEachPart(db, ({ query }) => query(DELETE, { hasta }))
  return deletedByPart.some((deletedRows) => deletedRows.length >= MAX_ROWS_PER_STATEMENT)
}
