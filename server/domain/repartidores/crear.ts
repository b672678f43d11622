import { inTransaction } from '../../data/db.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'
import { saveRepartidor } from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'

export const crearRepartidor: Handler<'crearRepartidor'> = async (
  { body, ...caller },
  { db, newId, secretos, bitacora },
) => {
  const telefono = body.telefono === undefined ? undefined : readTelephone(body.telefono)
  if (telefono && 'error' in telefono) throw new Error('telefono was not validated')
  const de = { nombre: body.nombre, telefono: telefono?.e164 ?? null }
  const createdRepartidor = await inTransaction(db, async (query) => {
    const repartidor = await saveRepartidor({ db: { query }, newId, secretos }, de)
    await bitacora.record(query, caller, {
      accion: 'crearRepartidor',
      sobre: ['repartidor', repartidor.repartidor],
      campos: Object.keys(body),
    })
    return repartidor
  })
  return { status: 201, body: createdRepartidor }
}
