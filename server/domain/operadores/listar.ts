import { newestFirst, positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import type { Handler } from '../operation.ts'
import { presentarOperador } from './operador.ts'

export const listarOperadores: Handler<'listarOperadores'> = async (
  { query, ...quien },
  { db, cursores, bitacora },
) => {
  const pagina = await paginate(cursores, { operacion: 'listarOperadores', dueno: 'operador' }, query ?? {}, {
    leer: async (despues, take) => db.prisma.operador.findMany(newestFirst(despues, take)),
    posicion: positionOfId,
    presentar: presentarOperador,
  })
  await bitacora.consultada(quien, { accion: 'listarOperadores', despues: { operadores: pagina.datos.length } })
  return { status: 200, body: pagina }
}
