import { newestFirst, positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import type { Handler } from '../operation.ts'
import { presentOperador } from './operador.ts'

export const listarOperadores: Handler<'listarOperadores'> = async (
  { query, ...caller },
  { db, cursors, bitacora },
) => {
  const page = await paginate(cursors, { operacion: 'listarOperadores', dueno: 'operador' }, query ?? {}, {
    read: async (after, take) => db.prisma.operador.findMany(newestFirst(after, take)),
    positionOf: positionOfId,
    present: presentOperador,
  })
  await bitacora.recordRead(caller, { accion: 'listarOperadores', despues: { operadores: page.datos.length } })
  return { status: 200, body: page }
}
