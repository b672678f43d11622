import { paginate } from '../../api/lists/page.ts'
import type { Handler } from '../operation.ts'
import { guiaKeyOf } from '../records/guiaFields.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { presentNotas } from './nota.ts'

export const listarNotas: Handler<'listarNotas'> = async ({ path, query, ...caller }, { db, cursors, bitacora }) => {
  const guiaRow = await findGuia(db, 'todos', path.guia)
  const { comercio_id, modo, guia } = guiaRow
  const page = await paginate(
    cursors,
    { operacion: 'listarNotas', dueno: 'operador', filters: { guia } },
    query ?? {},
    {
      read: (after, take) =>
        db.forComercio(comercio_id).prisma.nota.findMany({
          where: { ...guiaKeyOf(guiaRow), ...(after && { id: { gt: String(after[0]) } }) },
          orderBy: { id: 'asc' },
          take,
        }),
      positionOf: ({ id }) => [id],
      present: (row) => row,
    },
  )
  await bitacora.recordRead(caller, { accion: 'listarNotas', sobre: ['guia', guia], de: { comercio_id, modo } })
  return { status: 200, body: { ...page, datos: await presentNotas(db, guia, page.datos) } }
}
