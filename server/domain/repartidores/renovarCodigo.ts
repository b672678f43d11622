import { inTransaction } from '../../data/db.ts'
import { newRepartidorCode, presentRepartidor, setRepartidorCode } from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'

/** Replaces a courier's code with a new one. */
export const renovarCodigo: Handler<'renovarCodigo'> = async (
  { path: { repartidor }, ...caller },
  { db, secretos, bitacora },
) => {
  const { codigo, codigo_hash } = newRepartidorCode(secretos)
  const row = await inTransaction(db, async (query) => {
    const renewedRow = await setRepartidorCode(query, { repartidor, codigo_hash })
    const sobre = ['repartidor', repartidor] as const
    await bitacora.record(query, caller, { accion: 'renovarCodigo', sobre, campos: ['codigo'] })
    return renewedRow
  })
  return { status: 201, body: { ...presentRepartidor(row), codigo } }
}
