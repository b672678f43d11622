import { type Db, statement } from '../../data/db.ts'
import type { operador } from '../../generated/contract/prisma/client.ts'
import type { Autor, LlaveDeOperadorCreada, Operador } from '../../generated/contract/types/index.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { Problema } from '../../platform/errors.ts'
import type { Deps } from '../deps.ts'
import { saveOperadorLlave } from '../identities/llave.ts'

/** Converts an operator row to the contract's `Operador`. */
export const presentOperador = ({ operador, nombre, creado_en, revocado_en }: operador): Operador => ({
  operador,
  nombre,
  creado_en: creado_en.toISOString(),
  revocado_en: revocado_en?.toISOString() ?? null,
})

/**
 * Finds an operator by its public identifier.
 * @throws Problema 404 if no operator has the identifier
 */
export async function requireOperador(db: Db, code: string): Promise<operador> {
  const row = /^op_[0-9A-Z]{12}$/.test(code) ? await db.prisma.operador.findUnique({ where: { operador: code } }) : null
  if (!row) throw new Problema('operador_desconocido', 'No hay ningún operador con ese identificador.')
  return row
}

const SAVE = statement<Pick<operador, 'id' | 'operador' | 'nombre' | 'creado_en'>, operador>(
  'operadores.save',
  'central',
  'insert into operador (id, operador, nombre, creado_en) values (:id, :operador, :nombre, :creado_en) returning *',
)

/** Creates an operator without a key. The operator cannot use the API until a key is created. */
export async function saveOperador(
  { db, newId }: { db: Pick<Db, 'query'>; newId: Deps['newId'] },
  nombre: string,
): Promise<operador> {
  const [row] = await db.query(SAVE, { ...newId(), operador: `op_${randomBase32(12)}`, nombre })
  return row!
}

/** Creates an operator and a first key with all scopes. Only this result contains the key's secret. */
export async function saveOperadorWithLlave(
  deps: Pick<Deps, 'db' | 'newId'>,
  name: string,
): Promise<LlaveDeOperadorCreada> {
  const { id: operadorId, operador, creado_en } = await saveOperador(deps, name)
  return saveOperadorLlave(deps.db, creado_en, { operadorId, operador })
}

const NAMES = statement<{ authors: readonly string[] }, { autor: string; nombre: string }>(
  'operadores.names',
  'central',
  `select operador as autor, nombre from operador where operador = any(:authors::text[])
   union all select persona, nombre from persona where persona = any(:authors::text[])`,
)

/**
 * Reads the names of operators and persons of the courier company.
 * @returns a function that returns the author with an identifier (op_… or per_…). The name of an erased person is
 *   empty.
 */
export async function readAuthors(db: Db, codes: readonly string[]): Promise<(autor: string) => Autor> {
  const authors = [...new Set(codes)]
  const namedAuthors = authors.length > 0 ? await db.central.query(NAMES, { authors }) : []
  const nameByAuthor = new Map(namedAuthors.map(({ autor, nombre }) => [autor, nombre]))
  return (autor) => ({ autor, nombre: nameByAuthor.get(autor) || null })
}
