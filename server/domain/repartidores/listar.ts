import { newestFirst, positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import { presentRepartidor } from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'

export const listarRepartidores: Handler<'listarRepartidores'> = async (
  { query, ...caller },
  { db, cursors, bitacora },
) => {
  const page = await paginate(cursors, { operacion: 'listarRepartidores', dueno: 'operador' }, query ?? {}, {
    read: async (after, take) => db.prisma.repartidor.findMany(newestFirst(after, take)),
    positionOf: positionOfId,
    present: presentRepartidor,
  })
  await bitacora.recordRead(caller, { accion: 'listarRepartidores', despues: { repartidores: page.datos.length } })
  return { status: 200, body: page }
}
