import { statement } from '../../data/db.ts'
import { inEach } from '../../data/spread.ts'
import type { Deps } from '../deps.ts'
import { VIGENCIA_DE_CLAVE } from './idempotencia.ts'

/** Maximum number of rows per statement, which keeps all transactions short. */
const LOTE = 2_000

const BORRAR = statement<{ hasta: Date }>(
  'idempotencia.borrar',
  `with v as (
     select comercio_id, modo, operacion, idempotencia from clave_idempotencia where creado_en <= :hasta
     order by creado_en limit ${LOTE}
   )
   delete from clave_idempotencia c using v where c.comercio_id = v.comercio_id and c.modo = v.modo
     and c.operacion = v.operacion and c.idempotencia = v.idempotencia and c.creado_en <= :hasta returning 1`,
  { alcance: 'parte' },
)

/**
 * Deletes one batch of expired idempotency keys. Two processes may run it at the same time.
 * @returns true if there may be more
 */
export async function limpiarClaves({ db, reloj }: Pick<Deps, 'db' | 'reloj'>): Promise<boolean> {
  const hasta = new Date(reloj().getTime() - VIGENCIA_DE_CLAVE)
  const lotes = await inEach(db, ({ consultar }) => consultar(BORRAR, { hasta }))
  return lotes.some((borradas) => borradas.length >= LOTE)
}
