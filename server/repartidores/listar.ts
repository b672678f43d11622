import type { Handler } from '../contrato/tipos.ts'
import { paginar } from '../listas/pagina.ts'
import { presentarRepartidor } from './repartidor.ts'

export const listarRepartidores: Handler<'listarRepartidores'> = async ({ query }, { db, cursores }) => {
  const pagina = await paginar(cursores, { operacion: 'listarRepartidores', dueno: 'operador' }, query ?? {}, {
    leer: async (despues, take) =>
      db.prisma.repartidor.findMany({
        where: despues ? { id: { lt: String(despues[0]) } } : {},
        orderBy: { id: 'desc' },
        take,
      }),
    posicion: ({ id }) => [id],
    presentar: presentarRepartidor,
  })
  return { status: 200, body: pagina }
}
