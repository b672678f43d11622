import { newestFirst, positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import { type AprobacionRow, presentAprobacion } from '../equipo/members/aprobacion.ts'
import type { Handler } from '../operation.ts'

export const listarAprobaciones: Handler<'listarAprobaciones'> = async ({ query, ...caller }, deps) => {
  const { db, cursors, bitacora } = deps
  const page = await paginate(cursors, { operacion: 'listarAprobaciones', dueno: 'operador' }, query ?? {}, {
    read: async (after, take) => (await db.prisma.aprobacion.findMany(newestFirst(after, take))) as AprobacionRow[],
    positionOf: positionOfId,
    present: (row) => presentAprobacion(deps, row),
  })
  await bitacora.recordRead(caller, { accion: 'listarAprobaciones', despues: { aprobaciones: page.datos.length } })
  return { status: 200, body: page }
}
