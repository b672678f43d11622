// Generators that others made read the published contract, and what they make takes every example of it.
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FetchingJSONSchemaStore, InputData, JSONSchemaInput, quicktype } from 'quicktype-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ZodType } from 'zod'
import {
  examplesOf,
  type Json,
  type JsonObject,
  operacionesOf,
  resolveRef,
  schemasOf,
} from '../../scripts/documentation/contract.ts'
import { ROOT } from '../../server/platform/root.ts'
import { fillRelativeDays } from '../docs/days.ts'
import { runProgram } from '../docs/run.ts'
import { buildGuia, FULL_RUN_ONLY } from '../factories.ts'
import { PYTHON_WITH_DATEUTIL } from '../interpreters.ts'

const CONTRACT_PATH = fileURLToPath(new URL('server/generated/contract/openapi.json', ROOT))
const contract: JsonObject = JSON.parse(
  fillRelativeDays(readFileSync(CONTRACT_PATH, 'utf8'), { clock: () => new Date() }),
)

interface Case {
  operacion: string
  /** `cuerpo`, or the status of an answer. */
  part: string
  scheme: Json
  valor: Json
}

/** Every example of a JSON body or answer, with the schema that stands beside it. */
const cases: Case[] = operacionesOf(contract).flatMap(({ id, definition }) => {
  const parts = {
    ...(definition.requestBody ? { cuerpo: definition.requestBody } : {}),
    ...(definition.responses as JsonObject),
  }
  return Object.entries(parts).flatMap(([component, part]) => {
    const { schema = null } = ((resolveRef(contract, part).content as JsonObject)?.['application/json'] ??
      {}) as JsonObject
    return examplesOf(contract, part).map(([, { value = null }]) => ({
      operacion: id,
      part: component,
      scheme: schema,
      valor: value,
    }))
  })
})

let folder = ''
const pathOf = (file: string) => join(folder, file)
beforeAll(async () => {
  // In the project, where what is generated finds the packages that it imports.
  const memoria = fileURLToPath(new URL('node_modules/.cache/guias/', ROOT))
  await mkdir(memoria, { recursive: true })
  folder = await mkdtemp(join(memoria, 'herramientas-'))
})
afterAll(() => rm(folder, { recursive: true }))

const program = (path: string, ...args: string[]) => [
  process.execPath,
  fileURLToPath(new URL(`node_modules/${path}`, ROOT)),
  ...args,
]

async function requireSuccess(command: string[]) {
  const { codigo, output, errores } = await runProgram(command, { cwd: folder })
  expect(codigo, output + errores).toBe(0)
  return output
}

it('has an example of most bodies and answers', () => expect(cases.length).toBeGreaterThan(250))

describe('orval with zod', () => {
  let schemas: Record<string, ZodType> = {}
  beforeAll(async () => {
    await requireSuccess(
      program('orval/dist/bin/orval.mjs', '--input', CONTRACT_PATH, '--output', pathOf('zod.ts'), '--client', 'zod'),
    )
    schemas = await import(pathOf('zod.ts'))
  })

  const schemaOf = ({ operacion, part }: Case) =>
    schemas[`${operacion[0]!.toUpperCase()}${operacion.slice(1)}${part === 'cuerpo' ? 'Body' : 'Response'}`]

  /** What it makes schemas of: bodies, and the first good answer of each operation. */
  const checkedCases = cases.filter(
    ({ operacion, part }) =>
      part === 'cuerpo' || part === cases.find((c) => c.operacion === operacion && c.part.startsWith('2'))?.part,
  )

  it('takes every example', () => {
    expect(checkedCases.length).toBeGreaterThan(50)
    const bad = checkedCases.map((testCase) => [
      testCase.operacion,
      testCase.part,
      schemaOf(testCase)?.safeParse(testCase.valor).error?.issues,
    ])
    expect(bad.filter(([, , faults]) => faults !== undefined)).toEqual([])
    expect(checkedCases.filter((testCase) => !schemaOf(testCase))).toEqual([])
  })

  it('takes a valid guide with letters of Spanish, and refuses one without its municipality', () => {
    const { municipio, ...guiaWithoutMunicipio } = { ...buildGuia(), direccion: '5ª avenida norte, casa Ñandú' }
    expect(schemas.CrearGuiaBody!.safeParse({ ...guiaWithoutMunicipio, municipio }).error).toBeUndefined()
    expect(schemas.CrearGuiaBody!.safeParse(guiaWithoutMunicipio).success).toBe(false)
    expect(schemas.CrearGuiaBody!.safeParse({ ...guiaWithoutMunicipio, municipio: ' ' }).success).toBe(false)
  })
})

describe('openapi-typescript', () => {
  it('gives types that every example has', FULL_RUN_ONLY, async () => {
    // It would make obligatory, in requests too, whatever has a default.
    const opcional = ['--default-non-nullable', 'false']
    await requireSuccess(
      program('openapi-typescript/bin/cli.js', CONTRACT_PATH, ...opcional, '-o', pathOf('tipos.d.ts')),
    )
    const constants = cases.map(({ operacion, part: component, valor: value }, i) => {
      const part =
        component === 'cuerpo'
          ? "NonNullable<operations['OP']['requestBody']>"
          : `operations['OP']['responses'][${/^\d+$/.test(component) ? component : `'${component}'`}]`
      const tipo = `${part.replace('OP', operacion)}['content']['application/json']`
      return `export const caso${i}: ${tipo} = ${JSON.stringify(value)}`
    })
    const bad = "// @ts-expect-error\nexport const mal: components['schemas']['GuiaIndividual'] = { telefono: 1 }"
    const head = "import type { components, operations } from './tipos.d.ts'"
    await writeFile(pathOf('casos.ts'), [head, ...constants, bad].join('\n'))
    const options = ['--noEmit', '--strict', '--ignoreConfig', '--allowImportingTsExtensions', 'casos.ts']
    await requireSuccess(program('typescript-7/bin/tsc', ...options))
  })
})

describe.skipIf(!PYTHON_WITH_DATEUTIL)('quicktype, in Python', () => {
  it('makes models that read every example', async () => {
    const propertyName = ({ operacion, part }: Case) => `${operacion}_${part}`
    const schema = {
      $defs: schemasOf(contract),
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(cases.map((testCase) => [propertyName(testCase), testCase.scheme])),
    }
    const source = new JSONSchemaInput(new FetchingJSONSchemaStore())
    await source.addSource({
      name: 'Todo',
      schema: JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/'),
    })
    const inputData = new InputData()
    inputData.addInput(source)
    const { lines } = await quicktype({ inputData, lang: 'python', rendererOptions: { 'python-version': '3.7' } })
    await writeFile(pathOf('modelos.py'), lines.join('\n'))
    await writeFile(
      pathOf('casos.json'),
      JSON.stringify(cases.map((testCase) => ({ [propertyName(testCase)]: testCase.valor }))),
    )
    await writeFile(pathOf('leer.py'), READER_CODE)
    expect(await requireSuccess([PYTHON_WITH_DATEUTIL!, 'leer.py'])).toBe(`${cases.length}\n`)
  })
})

const READER_CODE = `
import json
from modelos import todo_from_dict, todo_to_dict
leidos = 0
for caso in json.load(open('casos.json', encoding='utf8')):
    if set(todo_to_dict(todo_from_dict(caso))) != set(caso):
        raise SystemExit(f'not read: {caso}')
    leidos += 1
try:
    todo_from_dict({'crearGuia_cuerpo': {'telefono': 1}})
    raise SystemExit('takes anything')
except AssertionError:
    print(leidos)
`
