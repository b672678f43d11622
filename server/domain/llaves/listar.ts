import { paginate } from '../../api/lists/page.ts'
import type { Alcance, Modo } from '../../generado/contrato/tipos/index.ts'
import { exigirComercio } from '../comercios/comercio.ts'
import type { Handler } from '../operation.ts'
import { masRecientes, posicionDeLlave, presentarLlave } from './llave.ts'

export const listarLlaves: Handler<'listarLlaves'> = async ({ path, query }, { db, cursores }) => {
  const { id: comercio_id, comercio } = await exigirComercio(db, path.comercio)
  const pagina = await paginate(cursores, { operacion: 'listarLlaves', dueno: comercio }, query ?? {}, {
    leer: async (despues, take) =>
      db.central.prisma.llave.findMany({ ...masRecientes({ comercio_id }, despues), take }),
    posicion: posicionDeLlave,
    presentar: (fila) =>
      presentarLlave({
        ...fila,
        tipo: fila.tipo as Modo,
        alcances: fila.alcances as Alcance[],
        dueno: comercio,
      }),
  })
  return { status: 200, body: pagina }
}
