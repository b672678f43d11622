import { inTransaction } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { ponerCodigo, presentarRepartidor } from './repartidor.ts'

/**
 * Deactivates a courier by removing the code. Reactivation takes a new code, so a noted-down code never works again.
 */
export const desactivarRepartidor: Handler<'desactivarRepartidor'> = async (
  { path: { repartidor }, ...quien },
  { db, bitacora },
) => {
  const fila = await inTransaction(db, async (consultar) => {
    const desactivado = await ponerCodigo(consultar, { repartidor, codigo_hash: null })
    const sobre = ['repartidor', repartidor] as const
    await bitacora.anotar(consultar, quien, { accion: 'desactivarRepartidor', sobre, despues: { activo: false } })
    return desactivado
  })
  return { status: 200, body: presentarRepartidor(fila) }
}
