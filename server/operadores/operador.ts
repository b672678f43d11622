import { base32AlAzar } from '../codigos/codigos.ts'
import type { operador } from '../contrato/generado/prisma/client.ts'
import type { LlaveDeOperadorCreada, Operador } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import { Problema } from '../errores.ts'
import { guardarLlaveDeOperador } from '../llaves/llave.ts'

/** An operator as the contract has it. */
export const presentarOperador = ({ operador, nombre, creado_en, revocado_en }: operador): Operador => ({
  operador,
  nombre,
  creado_en: creado_en.toISOString(),
  revocado_en: revocado_en?.toISOString() ?? null,
})

/** The operator of a public identifier. @throws Problema 404 */
export async function exigirOperador(db: Db, codigo: string): Promise<operador> {
  const fila = /^op_[0-9A-Z]{12}$/.test(codigo)
    ? await db.prisma.operador.findUnique({ where: { operador: codigo } })
    : null
  if (!fila) throw new Problema('operador_desconocido', 'No hay ningún operador con ese identificador.')
  return fila
}

const GUARDAR = sentencia<Pick<operador, 'id' | 'operador' | 'nombre' | 'creado_en'>, operador>(
  'operadores.guardar',
  'insert into operador (id, operador, nombre, creado_en) values (:id, :operador, :nombre, :creado_en) returning *',
)

/** Creates an operator, who can do nothing until he has a key. */
export async function guardarOperador(
  { db, nuevoId }: { db: Pick<Db, 'consultar'>; nuevoId: Deps['nuevoId'] },
  nombre: string,
): Promise<operador> {
  const [fila] = await db.consultar(GUARDAR, { ...nuevoId(), operador: `op_${base32AlAzar(12)}`, nombre })
  return fila!
}

/** Creates an operator with a first key of all scopes, which is shown only here. */
export async function guardarOperadorConLlave(
  deps: Pick<Deps, 'db' | 'nuevoId'>,
  nombre: string,
): Promise<LlaveDeOperadorCreada> {
  const { id: operadorId, operador, creado_en } = await guardarOperador(deps, nombre)
  return guardarLlaveDeOperador(deps.db, creado_en, { operadorId, operador })
}
