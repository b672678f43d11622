import { inTransaction, statement } from '../../data/db.ts'
import { ADMINISTRAN, quedaOtra, ultimaLlave } from '../llaves/llave.ts'
import type { Handler } from '../operation.ts'
import { exigirOperador, presentarOperador } from './operador.ts'

const REVOCAR = statement<{ id: string; ahora: Date }, { id: string }>(
  'operadores.revocar',
  `with ${ADMINISTRAN}
   update operador set revocado_en = :ahora::timestamptz where id = :id and revocado_en is null
     and ${quedaOtra('operador_id = :id')}
   returning id`,
)

/**
 * Revokes an operator. The rows of the operator's keys do not change: each lookup of a key also checks its operator.
 * @throws Problema 409 if the operator has the last key with scope `administrar`, or the last such key that has neither
 * an expiry nor a network limit
 */
export const revocarOperador: Handler<'revocarOperador'> = async ({ path, ...quien }, { db, reloj, bitacora }) => {
  const { id, ...operador } = await exigirOperador(db, path.operador)
  if (!operador.revocado_en) {
    await inTransaction(db, async (consultar) => {
      const revocados = await consultar(REVOCAR, { id, ahora: reloj() })
      if (revocados.length === 0) return
      await bitacora.anotar(consultar, quien, {
        accion: 'revocarOperador',
        sobre: ['operador', operador.operador],
        campos: ['revocado_en'],
      })
    })
  }
  const revocado = await exigirOperador(db, path.operador)
  if (!revocado.revocado_en) throw ultimaLlave()
  return { status: 200, body: presentarOperador(revocado) }
}
