import { inTransaction, statement } from '../../data/db.ts'
import { ADMINISTERING, anotherLlaveRemainsSql, lastLlave } from '../identities/llave.ts'
import type { Handler } from '../operation.ts'
import { presentOperador, requireOperador } from './operador.ts'

const REVOKE = statement<{ id: string; now: Date }, { id: string }>(
  'operadores.revoke',
  'central',
  `with ${ADMINISTERING}
   update operador set revocado_en = :now::timestamptz where id = :id and revocado_en is null
     and ${anotherLlaveRemainsSql('operador_id = :id')}
   returning id`,
)

/**
 * Revokes an operator. The rows of the operator's keys do not change: each lookup of a key also checks its operator.
 * @throws Problema 409 if the operator has the last key with scope `administrar`, or the last such key that has neither
 * an expiry nor a network limit
 */
export const revocarOperador: Handler<'revocarOperador'> = async ({ path, ...caller }, { db, clock, bitacora }) => {
  const { id, ...operador } = await requireOperador(db, path.operador)
  if (!operador.revocado_en) {
    await inTransaction(db, async (query) => {
      const revokedRows = await query(REVOKE, { id, now: clock() })
      if (revokedRows.length === 0) return
      await bitacora.record(query, caller, {
        accion: 'revocarOperador',
        sobre: ['operador', operador.operador],
        campos: ['revocado_en'],
      })
    })
  }
  const revokedOperador = await requireOperador(db, path.operador)
  if (!revokedOperador.revocado_en) throw lastLlave()
  return { status: 200, body: presentOperador(revokedOperador) }
}
