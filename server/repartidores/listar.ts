import type { Handler } from '../contrato/tipos.ts'
import { paginar } from '../listas/pagina.ts'
import { masNuevas, posicionDeId } from '../listas/porId.ts'
import { presentarRepartidor } from './repartidor.ts'

export const listarRepartidores: Handler<'listarRepartidores'> = async ({ query }, { db, cursores }) => {
  const pagina = await paginar(cursores, { operacion: 'listarRepartidores', dueno: 'operador' }, query ?? {}, {
    leer: async (despues, take) => db.prisma.repartidor.findMany(masNuevas(despues, take)),
    posicion: posicionDeId,
    presentar: presentarRepartidor,
  })
  return { status: 200, body: pagina }
}
