import type { Handler } from '../contrato/tipos.ts'
import { enTransaccion } from '../db.ts'
import { ponerCodigo, presentarRepartidor } from './repartidor.ts'

/**
 * Deactivates a courier by taking his code away; the way back is a new code, so that the noted-down one never works
 * again.
 */
export const desactivarRepartidor: Handler<'desactivarRepartidor'> = async (
  { path: { repartidor }, ...quien },
  { db, bitacora },
) => {
  const fila = await enTransaccion(db, async (consultar) => {
    const desactivado = await ponerCodigo(consultar, { repartidor, codigo_hash: null })
    const sobre = ['repartidor', repartidor] as const
    await bitacora.anotar(consultar, quien, { accion: 'desactivarRepartidor', sobre, despues: { activo: false } })
    return desactivado
  })
  return { status: 200, body: presentarRepartidor(fila) }
}
