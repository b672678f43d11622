import { inTransaction, statement } from '../../data/db.ts'
import {
  ADMINISTERING,
  anotherLlaveRemainsSql,
  presentAnyLlave,
  requireLlave,
  toBitacoraFields,
  ultimaLlave,
} from '../identities/llave.ts'
import type { Handler } from '../operation.ts'

const REVOKE = statement<{ id: string; ahora: Date }, { id: string }>(
  'llaves.revoke',
  'central',
  `with ${ADMINISTERING}
   update llave set revocado_en = :ahora::timestamptz where id = :id and revocado_en is null and ${anotherLlaveRemainsSql('id = :id')}
   returning id`,
)

export const revocarLlave: Handler<'revocarLlave'> = async ({ path, ...caller }, { db, clock, bitacora }) => {
  const llave = await requireLlave(db, path.llave)
  if (!llave.revocado_en) {
    await inTransaction(db.central, async (query) => {
      const revokedRows = await query(REVOKE, { id: llave.id, ahora: clock() })
      if (revokedRows.length === 0) return
      await bitacora.record(query, caller, {
        accion: 'revocarLlave',
        sobre: ['llave', path.llave],
        ...toBitacoraFields(llave),
        campos: ['revocado_en'],
      })
    })
  }
  const revokedLlave = await requireLlave(db, path.llave)
  if (!revokedLlave.revocado_en) throw ultimaLlave()
  return { status: 200, body: presentAnyLlave(revokedLlave) }
}
