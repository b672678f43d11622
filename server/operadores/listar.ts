import type { Handler } from '../contrato/tipos.ts'
import { paginar } from '../listas/pagina.ts'
import { presentarOperador } from './operador.ts'

export const listarOperadores: Handler<'listarOperadores'> = async ({ query }, { db, cursores }) => {
  const pagina = await paginar(cursores, { operacion: 'listarOperadores', dueno: 'operador' }, query ?? {}, {
    leer: async (despues, take) =>
      db.prisma.operador.findMany({
        where: despues ? { id: { lt: String(despues[0]) } } : {},
        orderBy: { id: 'desc' },
        take,
      }),
    posicion: ({ id }) => [id],
    presentar: presentarOperador,
  })
  return { status: 200, body: pagina }
}
