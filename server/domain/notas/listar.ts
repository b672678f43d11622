import { paginate } from '../../api/lists/page.ts'
import { deGuia } from '../eventos/evento.ts'
import { buscarGuia } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { presentarNotas } from './nota.ts'

export const listarNotas: Handler<'listarNotas'> = async ({ path, query, ...quien }, { db, cursores, bitacora }) => {
  const leida = await buscarGuia(db, 'todos', path.guia)
  const { comercio_id, modo, guia } = leida
  const pagina = await paginate(
    cursores,
    { operacion: 'listarNotas', dueno: 'operador', filtros: { guia } },
    query ?? {},
    {
      leer: (despues, take) =>
        db.de(comercio_id).prisma.nota.findMany({
          where: { ...deGuia(leida), ...(despues && { id: { gt: String(despues[0]) } }) },
          orderBy: { id: 'asc' },
          take,
        }),
      posicion: ({ id }) => [id],
      presentar: (fila) => fila,
    },
  )
  await bitacora.consultada(quien, { accion: 'listarNotas', sobre: ['guia', guia], de: { comercio_id, modo } })
  return { status: 200, body: { ...pagina, datos: await presentarNotas(db, guia, pagina.datos) } }
}
