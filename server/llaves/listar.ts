import { exigirComercio } from '../comercios/comercio.ts'
import type { Alcance, Modo } from '../contrato/generado/tipos/index.ts'
import type { Handler } from '../contrato/tipos.ts'
import { paginar } from '../listas/pagina.ts'
import { presentarLlave } from './llave.ts'

export const listarLlaves: Handler<'listarLlaves'> = async ({ path, query }, { db, cursores }) => {
  const { id: comercio_id, comercio } = await exigirComercio(db, path.comercio)
  const pagina = await paginar(cursores, { operacion: 'listarLlaves', dueno: comercio }, query ?? {}, {
    leer: async (despues, take) =>
      db.prisma.llave.findMany({
        where: { comercio_id, ...(despues ? antesDe(new Date(despues[0]!), String(despues[1])) : {}) },
        orderBy: [{ creado_en: 'desc' }, { id: 'desc' }],
        take,
      }),
    posicion: ({ creado_en, id }) => [creado_en.getTime(), id],
    presentar: (fila) =>
      presentarLlave({ ...fila, tipo: fila.tipo as Modo, alcances: fila.alcances as Alcance[], dueno: comercio }),
  })
  return { status: 200, body: pagina }
}

const antesDe = (creado_en: Date, id: string) => ({
  OR: [{ creado_en: { lt: creado_en } }, { creado_en, id: { lt: id } }],
})
