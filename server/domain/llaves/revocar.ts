import { inTransaction, statement } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { ADMINISTRAN, enBitacora, exigirLlave, presentarCualquiera, quedaOtra, ultimaLlave } from './llave.ts'

const REVOCAR = statement<{ id: string; ahora: Date }, { id: string }>(
  'llaves.revocar',
  `with ${ADMINISTRAN}
   update llave set revocado_en = :ahora::timestamptz where id = :id and revocado_en is null and ${quedaOtra('id = :id')}
   returning id`,
)

export const revocarLlave: Handler<'revocarLlave'> = async ({ path, ...quien }, { db, reloj, bitacora }) => {
  const llave = await exigirLlave(db, path.llave)
  if (!llave.revocado_en) {
    await inTransaction(db.central, async (consultar) => {
      const revocadas = await consultar(REVOCAR, { id: llave.id, ahora: reloj() })
      if (revocadas.length === 0) return
      await bitacora.anotar(consultar, quien, {
        accion: 'revocarLlave',
        sobre: ['llave', path.llave],
        ...enBitacora(llave),
        campos: ['revocado_en'],
      })
    })
  }
  const revocada = await exigirLlave(db, path.llave)
  if (!revocada.revocado_en) throw ultimaLlave()
  return { status: 200, body: presentarCualquiera(revocada) }
}
