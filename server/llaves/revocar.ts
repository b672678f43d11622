import type { Handler } from '../contrato/tipos.ts'
import { exigirLlave, presentarLlave } from './llave.ts'

export const revocarLlave: Handler<'revocarLlave'> = async ({ path }, { db, reloj }) => {
  const llave = await exigirLlave(db, path.llave)
  const revocada_en = llave.revocada_en ?? reloj()
  if (!llave.revocada_en) await db.prisma.llave.update({ where: { id: llave.id }, data: { revocada_en } })
  return { status: 200, body: presentarLlave({ ...llave, revocada_en }) }
}
