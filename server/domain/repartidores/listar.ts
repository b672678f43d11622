import { newestFirst, positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import { presentRepartidor } from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'

export const listarRepartidores: Handler<'listarRepartidores'> = async (
  { query, ...quien },
  { db, cursors, bitacora },
) => {
  const pagina = await paginate(cursors, { operacion: 'listarRepartidores', dueno: 'operador' }, query ?? {}, {
    leer: async (despues, take) => db.prisma.repartidor.findMany(newestFirst(despues, take)),
    posicion: positionOfId,
    present: presentRepartidor,
  })
  await bitacora.recordRead(quien, { accion: 'listarRepartidores', despues: { repartidores: pagina.datos.length } })
  return { status: 200, body: pagina }
}
