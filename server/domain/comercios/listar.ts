import { masNuevas, posicionDeId } from '../../api/lists/byId.ts'
import { paginar } from '../../api/lists/page.ts'
import type { Handler } from '../operation.ts'
import { presentarComercio } from './comercio.ts'

export const listarComercios: Handler<'listarComercios'> = async ({ query }, { db, cursores }) => {
  const pagina = await paginar(cursores, { operacion: 'listarComercios', dueno: 'operador' }, query ?? {}, {
    leer: async (despues, take) => db.prisma.comercio.findMany(masNuevas(despues, take)),
    posicion: posicionDeId,
    presentar: presentarComercio,
  })
  return { status: 200, body: pagina }
}
