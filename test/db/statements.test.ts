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

const inServer = ({ archivo }: DeclaredStatement) => archivo.split('/server/').at(-1)!

const archivos = globSync('server/**/*.ts', { cwd: fileURLToPath(ROOT), exclude: (path) => path.includes('generated') })
  .map((path) => fileURLToPath(new URL(path, ROOT)))
  .filter((path) => !path.endsWith('server/data/db.ts') && /\bstatement(<|\()/.test(readFileSync(path, 'utf8')))

const BASE = 'sentencias'
const client = new pg.Client({
  connectionString: Object.assign(new URL(inject('postgres')), { pathname: `/${BASE}` }).href,
})
let describeText: (text: string) => Promise<StatementDescription>
let declaredItems: Map<string, DeclaredStatement>

beforeAll(async () => {
  // A clone, because nobody can clone the template while somebody is connected to it.
  await createTestDatabase(BASE)
  await client.connect()
  describeText = await createDescriber(client)
  for (const file of archivos) await import(file)
  declaredItems = readDeclaredStatements(archivos)
})
afterAll(async () => {
  await client.end()
  await dropTestDatabase(BASE)
})

const vale = (tipo: string, { classes: clases }: MemberType) =>
  JSON_DE_POSTGRES.includes(tipo) || (clases.size === 1 && clases.has(CLASES[tipo] ?? `unknown type ${tipo}`))

function faltas(name: string, names: readonly string[], { parameters, columns }: StatementDescription): string[] {
  const declaredStatement = declaredItems.get(name)!
  const ofParameters = names.flatMap((parametro, i) => {
    const message = declaredStatement.parameters.get(parametro)
    if (!message) return [`parameter ${parametro} is not declared`]
    // A count (`limit`) goes in as a number; only what comes out may be too large for one.
    const tipo = parameters[i] === 'int8' ? 'int4' : parameters[i]!
    return vale(tipo, message) ? [] : [`parameter ${parametro} is ${parameters[i]}, declared ${[...message.classes]}`]
  })
  const caseWithoutName = parameters
    .slice(names.length)
    .map((tipo, i) => `parameter $${names.length + i + 1} (${tipo}) has no name`)
  const { row } = declaredStatement
  if (!row) return [...ofParameters, ...caseWithoutName]
  const columnFaults = columns.flatMap(({ nombre: column, tipo, nula }) => {
    const message = row.get(column)
    // A statement may give more than its reader wants (`returning *`).
    if (!message) return []
    return [
      ...(vale(tipo, message) ? [] : [`column ${column} is ${tipo}, declared ${[...message.classes]}`]),
      // Prisma has no lists that may be null, and doesn't tell PostgreSQL so.
      ...(nula && !message.nulo && !tipo.startsWith('_') ? [`column ${column} may be null`] : []),
    ]
  })
  const valuesWithoutColumn = [...row.keys()]
    .filter((column) => !columns.some(({ nombre: columnName }) => columnName === column))
    .map((column) => `column ${column} is declared and not given`)
  return [...ofParameters, ...caseWithoutName, ...columnFaults, ...valuesWithoutColumn]
}

function unusedEntries(name: string): string[] {
  const usados = STATEMENTS.get(name)!.parameters
  return [...declaredItems.get(name)!.parameters.keys()]
    .filter((parametro) => !usados.includes(parametro))
    .map((parametro) => `parameter ${parametro} is declared and not used`)
}

describe('the statements', () => {
  it('are all found, each by the name that stands in its source', () => {
    expect([...STATEMENTS.keys()].sort()).toEqual([...declaredItems.keys()].sort())
    expect(STATEMENTS.size).toBeGreaterThan(80)
  })

  it('are what TypeScript was told: parameters, columns, and what may be null', async () => {
    const findings: Record<string, string[]> = {}
    for (const name of declaredItems.keys()) {
      const { text, parameters } = STATEMENTS.get(name)!
      const faults = [
        ...unusedEntries(name),
        ...(await describeText(text).then(
          (descripcion) => faltas(name, parameters, descripcion),
          (error: Error) => [error.message],
        )),
      ]
      if (faults.length > 0) findings[`${name} (${inServer(declaredItems.get(name)!)})`] = faults
    }
    expect(findings).toEqual({})
  })
})
