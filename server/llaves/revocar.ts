import type { Handler } from '../contrato/tipos.ts'
import { exigirLlave, presentarLlave } from './llave.ts'

export const revocarLlave: Handler<'revocarLlave'> = async ({ path }, { db, reloj }) => {
  const llave = await exigirLlave(db, path.llave)
  const revocado_en = llave.revocado_en ?? reloj()
  if (!llave.revocado_en) await db.prisma.llave.update({ where: { id: llave.id }, data: { revocado_en } })
  return { status: 200, body: presentarLlave({ ...llave, revocado_en }) }
}
