import { newestFirst, positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import type { Handler } from '../operation.ts'
import { presentarComercio } from './comercio.ts'

export const listarComercios: Handler<'listarComercios'> = async ({ query }, { db, cursores }) => {
  const pagina = await paginate(cursores, { operacion: 'listarComercios', dueno: 'operador' }, query ?? {}, {
    leer: async (despues, take) => db.prisma.comercio.findMany(newestFirst(despues, take)),
    posicion: positionOfId,
    presentar: presentarComercio,
  })
  return { status: 200, body: pagina }
}
