import type { Handler } from '../contrato/tipos.ts'
import { exigirRepartidor, nuevoCodigo, presentarRepartidor } from './repartidor.ts'

/** Gives a courier a new code; with the version that it raises, the sessions of the old code end at once. */
export const renovarCodigo: Handler<'renovarCodigo'> = async ({ path }, { db, secretos }) => {
  const { id } = await exigirRepartidor(db, path.repartidor)
  const { codigo, codigo_hash } = nuevoCodigo(secretos)
  const data = { codigo_hash, version: { increment: 1 } }
  const fila = await db.prisma.repartidor.update({ where: { id }, data })
  return { status: 201, body: { ...presentarRepartidor(fila), codigo } }
}
