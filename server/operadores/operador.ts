import { base32AlAzar } from '../codigos/codigos.ts'
import type { Db } from '../db.ts'
import { nuevaLlave } from '../llaves/llave.ts'

/** Creates an operator and its key, which is shown only here. Operators are made at the console, not over HTTP. */
export async function crearOperador(db: Db, { id, creado_en }: { id: string; creado_en: Date }, nombre: string) {
  const operador = `op_${base32AlAzar(12)}`
  const { llave, ...clave } = nuevaLlave('oper')
  await db.prisma.operador.create({
    data: { id, operador, nombre, creado_en, llaves: { create: { ...clave, tipo: 'oper', alcances: [], creado_en } } },
  })
  return { operador, nombre, creado_en: creado_en.toISOString(), id: `llave_${clave.id}`, llave }
}
