import { paginate } from '../../api/lists/page.ts'
import type { AlcanceDeOperacion } from '../../generated/contract/types/index.ts'
import { llavePosition, newestLlaves, presentOperadorLlave } from '../identities/llave.ts'
import { requireOperador } from '../operadores/operador.ts'
import type { Handler } from '../operation.ts'

export const listarLlavesDeOperador: Handler<'listarLlavesDeOperador'> = async ({ path, query }, { db, cursors }) => {
  const { id: operador_id, operador, revocado_en } = await requireOperador(db, path.operador)
  const page = await paginate(cursors, { operacion: 'listarLlavesDeOperador', dueno: operador }, query ?? {}, {
    read: async (after, take) => db.prisma.llave.findMany({ ...newestLlaves({ operador_id }, after), take }),
    positionOf: llavePosition,
    present: (row) =>
      presentOperadorLlave({
        ...row,
        tipo: 'oper',
        alcances: row.alcances as AlcanceDeOperacion[],
        revocado_en: row.revocado_en ?? revocado_en,
        dueno: operador,
      }),
  })
  return { status: 200, body: page }
}
