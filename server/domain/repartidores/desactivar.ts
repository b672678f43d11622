import { inTransaction } from '../../data/db.ts'
import { presentRepartidor, setRepartidorCode } from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'

/**
 * Deactivates a courier by removing the code. Reactivation takes a new code, so a noted-down code never works again.
 */
export const desactivarRepartidor: Handler<'desactivarRepartidor'> = async (
  { path: { repartidor }, ...caller },
  { db, bitacora },
) => {
  const row = await inTransaction(db, async (query) => {
    const deactivatedRow = await setRepartidorCode(query, { repartidor, codigo_hash: null })
    const sobre = ['repartidor', repartidor] as const
    await bitacora.record(query, caller, { accion: 'desactivarRepartidor', sobre, despues: { activo: false } })
    return deactivatedRow
  })
  return { status: 200, body: presentRepartidor(row) }
}
