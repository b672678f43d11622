import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { STATEMENTS } from '../../server/data/db.ts'
import { ROOT } from '../../server/platform/root.ts'
import { createTestDatabase, dropTestDatabase } from '../postgres.ts'
import { createDescriber, type StatementDescription } from './describe.ts'
import { type DeclaredStatement, type MemberType, readDeclaredStatements } from './types.ts'

/** The TypeScript of what node-postgres takes and gives, by PostgreSQL's type. */
const CLASES: Readonly<Record<string, string>> = {
  uuid: 'string',
  text: 'string',
  varchar: 'string',
  name: 'string',
  xid8: 'string',
  pg_snapshot: 'string',
  int8: 'string',
  numeric: 'string',
  int2: 'number',
  int4: 'number',
  float4: 'number',
  float8: 'number',
  bool: 'boolean',
  timestamptz: 'Date',
  bytea: 'Buffer',
  _text: 'string[]',
  _uuid: 'string[]',
  _int4: 'number[]',
  _float4: 'number[]',
  _float8: 'number[]',
  _bool: 'boolean[]',
  _timestamptz: 'Date[]',
  _bytea: 'Buffer[]',
}
/** JSON may be anything that JSON can say. */
const JSON_DE_POSTGRES = ['json', 'jsonb']

const enServer = ({ archivo }: DeclaredStatement) => archivo.split('/server/').at(-1)!

const archivos = globSync('server/**/*.ts', { cwd: fileURLToPath(ROOT), exclude: (ruta) => ruta.includes('generated') })
  .map((ruta) => fileURLToPath(new URL(ruta, ROOT)))
  .filter((ruta) => !ruta.endsWith('server/data/db.ts') && /\bstatement(<|\()/.test(readFileSync(ruta, 'utf8')))

const BASE = 'sentencias'
const cliente = new pg.Client({
  connectionString: Object.assign(new URL(inject('postgres')), { pathname: `/${BASE}` }).href,
})
let describir: (text: string) => Promise<StatementDescription>
let declaradas: Map<string, DeclaredStatement>

beforeAll(async () => {
  // A clone, because nobody can clone the template while somebody is connected to it.
  await createTestDatabase(BASE)
  await cliente.connect()
  describir = await createDescriber(cliente)
  for (const archivo of archivos) await import(archivo)
  declaradas = readDeclaredStatements(archivos)
})
afterAll(async () => {
  await cliente.end()
  await dropTestDatabase(BASE)
})

const vale = (tipo: string, { classes: clases }: MemberType) =>
  JSON_DE_POSTGRES.includes(tipo) || (clases.size === 1 && clases.has(CLASES[tipo] ?? `unknown type ${tipo}`))

function faltas(
  nombre: string,
  nombres: readonly string[],
  { parameters: parametros, columns: columnas }: StatementDescription,
): string[] {
  const declarada = declaradas.get(nombre)!
  const deParametros = nombres.flatMap((parametro, i) => {
    const dicho = declarada.parameters.get(parametro)
    if (!dicho) return [`parameter ${parametro} is not declared`]
    // A count (`limit`) goes in as a number; only what comes out may be too large for one.
    const tipo = parametros[i] === 'int8' ? 'int4' : parametros[i]!
    return vale(tipo, dicho) ? [] : [`parameter ${parametro} is ${parametros[i]}, declared ${[...dicho.classes]}`]
  })
  const sinNombre = parametros
    .slice(nombres.length)
    .map((tipo, i) => `parameter $${nombres.length + i + 1} (${tipo}) has no name`)
  const { row: fila } = declarada
  if (!fila) return [...deParametros, ...sinNombre]
  const deColumnas = columnas.flatMap(({ nombre: columna, tipo, nula }) => {
    const dicho = fila.get(columna)
    // A statement may give more than its reader wants (`returning *`).
    if (!dicho) return []
    return [
      ...(vale(tipo, dicho) ? [] : [`column ${columna} is ${tipo}, declared ${[...dicho.classes]}`]),
      // Prisma has no lists that may be null, and doesn't tell PostgreSQL so.
      ...(nula && !dicho.nulo && !tipo.startsWith('_') ? [`column ${columna} may be null`] : []),
    ]
  })
  const sinColumna = [...fila.keys()]
    .filter((columna) => !columnas.some(({ nombre: dada }) => dada === columna))
    .map((columna) => `column ${columna} is declared and not given`)
  return [...deParametros, ...sinNombre, ...deColumnas, ...sinColumna]
}

function sinUsar(nombre: string): string[] {
  const usados = STATEMENTS.get(nombre)!.parameters
  return [...declaradas.get(nombre)!.parameters.keys()]
    .filter((parametro) => !usados.includes(parametro))
    .map((parametro) => `parameter ${parametro} is declared and not used`)
}

describe('the statements', () => {
  it('are all found, each by the name that stands in its source', () => {
    expect([...STATEMENTS.keys()].sort()).toEqual([...declaradas.keys()].sort())
    expect(STATEMENTS.size).toBeGreaterThan(80)
  })

  it('are what TypeScript was told: parameters, columns, and what may be null', async () => {
    const halladas: Record<string, string[]> = {}
    for (const nombre of declaradas.keys()) {
      const { text, parameters: parametros } = STATEMENTS.get(nombre)!
      const suyas = [
        ...sinUsar(nombre),
        ...(await describir(text).then(
          (descripcion) => faltas(nombre, parametros, descripcion),
          (error: Error) => [error.message],
        )),
      ]
      if (suyas.length > 0) halladas[`${nombre} (${enServer(declaradas.get(nombre)!)})`] = suyas
    }
    expect(halladas).toEqual({})
  })
})
