import type { Handler } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'
import { ADMINISTRAN, exigirLlave, presentarCualquiera, ultimaLlave } from './llave.ts'

const REVOCAR = sentencia<{ id: string; ahora: Date }, { id: string }>(
  'llaves.revocar',
  `with ${ADMINISTRAN}
   update llave set revocado_en = :ahora::timestamptz where id = :id and revocado_en is null
     and (not exists (select from administran where id = :id) or exists (select from administran where id <> :id))
   returning id`,
)

export const revocarLlave: Handler<'revocarLlave'> = async ({ path }, { db, reloj }) => {
  const llave = await exigirLlave(db, path.llave)
  if (!llave.revocado_en) await db.consultar(REVOCAR, { id: llave.id, ahora: reloj() })
  const revocada = await exigirLlave(db, path.llave)
  if (!revocada.revocado_en) throw ultimaLlave()
  return { status: 200, body: presentarCualquiera(revocada) }
}
