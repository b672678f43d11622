import type { Handler } from '../contrato/tipos.ts'
import { columnasDe, exigirComercio, presentarComercio } from './comercio.ts'

export const cambiarComercio: Handler<'cambiarComercio'> = async ({ path, body }, { db }) => {
  const { id } = await exigirComercio(db, path.comercio)
  return {
    status: 200,
    body: presentarComercio(await db.prisma.comercio.update({ where: { id }, data: columnasDe(body) })),
  }
}
