import { inTransaction } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { nuevoCodigo, ponerCodigo, presentarRepartidor } from './repartidor.ts'

/** Replaces a courier's code with a new one. */
export const renovarCodigo: Handler<'renovarCodigo'> = async (
  { path: { repartidor }, ...quien },
  { db, secretos, bitacora },
) => {
  const { codigo, codigo_hash } = nuevoCodigo(secretos)
  const fila = await inTransaction(db, async (consultar) => {
    const renovado = await ponerCodigo(consultar, { repartidor, codigo_hash })
    const sobre = ['repartidor', repartidor] as const
    await bitacora.anotar(consultar, quien, { accion: 'renovarCodigo', sobre, campos: ['codigo'] })
    return renovado
  })
  return { status: 201, body: { ...presentarRepartidor(fila), codigo } }
}
