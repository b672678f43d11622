import { paginate } from '../../api/lists/page.ts'
import type { AlcanceDeOperacion } from '../../generado/contrato/tipos/index.ts'
import { exigirOperador } from '../operadores/operador.ts'
import type { Handler } from '../operation.ts'
import { masRecientes, posicionDeLlave, presentarLlaveDeOperador } from './llave.ts'

export const listarLlavesDeOperador: Handler<'listarLlavesDeOperador'> = async ({ path, query }, { db, cursores }) => {
  const { id: operador_id, operador, revocado_en } = await exigirOperador(db, path.operador)
  const pagina = await paginate(cursores, { operacion: 'listarLlavesDeOperador', dueno: operador }, query ?? {}, {
    leer: async (despues, take) => db.prisma.llave.findMany({ ...masRecientes({ operador_id }, despues), take }),
    posicion: posicionDeLlave,
    presentar: (fila) =>
      presentarLlaveDeOperador({
        ...fila,
        tipo: 'oper',
        alcances: fila.alcances as AlcanceDeOperacion[],
        revocado_en: fila.revocado_en ?? revocado_en,
        dueno: operador,
      }),
  })
  return { status: 200, body: pagina }
}
