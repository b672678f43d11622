import { newestFirst, positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import type { Handler } from '../operation.ts'
import { presentOperador } from './operador.ts'

export const listarOperadores: Handler<'listarOperadores'> = async ({ query, ...quien }, { db, cursors, bitacora }) => {
  const pagina = await paginate(cursors, { operacion: 'listarOperadores', dueno: 'operador' }, query ?? {}, {
    leer: async (despues, take) => db.prisma.operador.findMany(newestFirst(despues, take)),
    posicion: positionOfId,
    present: presentOperador,
  })
  await bitacora.recordRead(quien, { accion: 'listarOperadores', despues: { operadores: pagina.datos.length } })
  return { status: 200, body: pagina }
}
