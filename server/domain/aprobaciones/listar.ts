import { newestFirst, positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import { type AprobacionRow, presentAprobacion } from '../equipo/aprobacion.ts'
import type { Handler } from '../operation.ts'

export const listarAprobaciones: Handler<'listarAprobaciones'> = async ({ query, ...quien }, deps) => {
  const { db, cursors, bitacora } = deps
  const pagina = await paginate(cursors, { operacion: 'listarAprobaciones', dueno: 'operador' }, query ?? {}, {
    leer: async (despues, take) => (await db.prisma.aprobacion.findMany(newestFirst(despues, take))) as AprobacionRow[],
    posicion: positionOfId,
    present: (row) => presentAprobacion(deps, row),
  })
  await bitacora.recordRead(quien, { accion: 'listarAprobaciones', despues: { aprobaciones: pagina.datos.length } })
  return { status: 200, body: pagina }
}
