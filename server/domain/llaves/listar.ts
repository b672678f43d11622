import { paginate } from '../../api/lists/page.ts'
import type { Alcance, Modo } from '../../generated/contract/types/index.ts'
import { requireComercio } from '../comercios/comercio.ts'
import { llavePosition, newestLlaves, presentLlave } from '../identities/llave.ts'
import type { Handler } from '../operation.ts'

export const listarLlaves: Handler<'listarLlaves'> = async ({ path, query }, { db, cursors }) => {
  const { id: comercio_id, comercio } = await requireComercio(db, path.comercio)
  const page = await paginate(cursors, { operacion: 'listarLlaves', dueno: comercio }, query ?? {}, {
    read: async (after, take) => db.central.prisma.llave.findMany({ ...newestLlaves({ comercio_id }, after), take }),
    positionOf: llavePosition,
    present: (row) =>
      presentLlave({
        ...row,
        tipo: row.tipo as Modo,
        alcances: row.alcances as Alcance[],
        dueno: comercio,
      }),
  })
  return { status: 200, body: page }
}
