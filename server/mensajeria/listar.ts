import type { Mensaje } from '../contrato/generado/tipos/index.ts'
import type { Handler } from '../contrato/tipos.ts'
import { buscarGuia } from '../guias/guia.ts'
import { paginar } from '../pagina.ts'

export const listarMensajes: Handler<'listarMensajes'> = async ({ query }, { db, cursores }) => {
  const { comercio_id, modo, id: guia_id, guia, comercio } = await buscarGuia(db, 'todos', query.guia)
  const pagina = await paginar(cursores, { operacion: 'listarMensajes', dueno: 'operador', filtros: { guia } }, query, {
    leer: async (despues, take) =>
      (await db.prisma()).mensaje.findMany({
        where: { comercio_id, modo, guia_id, numero: { gt: Number(despues?.[0] ?? 0) } },
        orderBy: { numero: 'asc' },
        take,
      }),
    posicion: ({ numero }) => [numero],
    presentar: (fila): Mensaje => ({
      id: `men_${fila.guia}_${fila.numero}`,
      guia: fila.guia,
      comercio,
      modo,
      canal: fila.canal as Mensaje['canal'],
      tipo: fila.tipo as Mensaje['tipo'],
      telefono: fila.telefono,
      estado: fila.estado as Mensaje['estado'],
      creado_en: fila.creado_en.toISOString(),
      enviado_en: fila.enviado_en?.toISOString() ?? null,
    }),
  })
  return { status: 200, body: pagina }
}
