import type { Handler } from '../contrato/tipos.ts'
import { paginar } from '../listas/pagina.ts'
import { masNuevas, posicionDeId } from '../listas/porId.ts'
import { presentarOperador } from './operador.ts'

export const listarOperadores: Handler<'listarOperadores'> = async ({ query }, { db, cursores }) => {
  const pagina = await paginar(cursores, { operacion: 'listarOperadores', dueno: 'operador' }, query ?? {}, {
    leer: async (despues, take) => db.prisma.operador.findMany(masNuevas(despues, take)),
    posicion: posicionDeId,
    presentar: presentarOperador,
  })
  return { status: 200, body: pagina }
}
