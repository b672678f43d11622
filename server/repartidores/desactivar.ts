import type { Handler } from '../contrato/tipos.ts'
import { exigirRepartidor, presentarRepartidor } from './repartidor.ts'

/**
 * Deactivates a courier by taking his code away; the way back is a new code, so that the noted-down one never works
 * again.
 */
export const desactivarRepartidor: Handler<'desactivarRepartidor'> = async ({ path }, { db }) => {
  const { id } = await exigirRepartidor(db, path.repartidor)
  const data = { codigo_hash: null, version: { increment: 1 } }
  const fila = await db.prisma.repartidor.update({ where: { id }, data })
  return { status: 200, body: presentarRepartidor(fila) }
}
