import type { Handler } from '../contrato/tipos.ts'
import { paginar } from '../listas/pagina.ts'
import { masNuevas, posicionDeId } from '../listas/porId.ts'
import { presentarComercio } from './comercio.ts'

export const listarComercios: Handler<'listarComercios'> = async ({ query }, { db, cursores }) => {
  const pagina = await paginar(cursores, { operacion: 'listarComercios', dueno: 'operador' }, query ?? {}, {
    leer: async (despues, take) => db.prisma.comercio.findMany(masNuevas(despues, take)),
    posicion: posicionDeId,
    presentar: presentarComercio,
  })
  return { status: 200, body: pagina }
}
