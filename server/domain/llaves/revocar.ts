import { inTransaction, statement } from '../../data/db.ts'
import {
  ADMINISTERING,
  anotherLlaveRemainsSql,
  lastLlave,
  presentAnyLlave,
  requireLlave,
  toBitacoraFields,
} from '../identities/llave.ts'
import type { Handler } from '../operation.ts'

const REVOKE = statement<{ id: string; now: Date }, { id: string }>(
  'llaves.revoke',
  'central',
  `with ${ADMINISTERING}
   update llave set revocado_en = :now::timestamptz where id = :id and revocado_en is null and ${anotherLlaveRemainsSql('id = :id')}
   returning id`,
)

export const revocarLlave: Handler<'revocarLlave'> = async ({ path, ...caller }, { db, clock, bitacora }) => {
  const llave = await requireLlave(db, path.llave)
  if (!llave.revocado_en) {
    await inTransaction(db.central, async (query) => {
      const revokedRows = await query(REVOKE, { id: llave.id, now: clock() })
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
  if (!revokedLlave.revocado_en) throw lastLlave()
  return { status: 200, body: presentAnyLlave(revokedLlave) }
}
