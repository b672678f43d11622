// Absent and null follow one rule in what the service sends: a declared member is always there, null when it has no value.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'

type Nodo = Record<string, unknown>

/** Members of some problems only. A batch's entry needs no exemption: with `guia` and with `error` it is two schemas. */
const EXEMPT_MEMBERS = [
  ...['errores_omitidos', 'guia', 'estado', 'transiciones', 'admitida_en', 'decision', 'opciones', 'secuencia'].map(
    (member) => `DatosDeProblema.${member}`,
  ),
  'Falla.sugerencia',
]

const children = (node: unknown): Nodo[] => (node === undefined ? [] : (Object.values(node as Nodo) as Nodo[]))

/** The node itself, or what its `$ref` names, with that name. */
function resolver(documento: Nodo, nodo: Nodo): { nombre: string | undefined; nodo: Nodo } {
  if (typeof nodo.$ref !== 'string') return { nombre: undefined, nodo }
  const steps = nodo.$ref.split('/').slice(1)
  const schema = steps.reduce<Nodo>((inside, step) => inside[step.replaceAll('~1', '/')] as Nodo, documento)
  return { nombre: steps.at(-1), nodo: schema }
}

/** The schemas of everything that the service sends when all is well, by who sends it. */
function enviados(documento: Nodo): [owner: string, schema: Nodo][] {
  const schemas: [string, Nodo][] = []
  const anotar = (caller: string, withContent: Nodo) => {
    const { nodo } = resolver(documento, withContent)
    for (const { schema } of children(nodo.content)) schemas.push([caller, schema as Nodo])
  }
  for (const path of children(documento.paths))
    for (const { operationId, responses } of children(path))
      for (const [estado, response] of Object.entries((responses ?? {}) as Nodo))
        if (estado.startsWith('2')) anotar(`${operationId} ${estado}`, response as Nodo)
  for (const webhook of children(documento.webhooks))
    for (const { operationId, requestBody } of children(webhook)) anotar(String(operationId), requestBody as Nodo)
  return schemas
}

/** Members of a sent schema, of whatever is inside it too, that may be absent: `Schema.member`. */
function findOmittable(documento: Nodo, schema: Nodo): Set<string> {
  const reached = new Set<string>()
  const seen = new Set<Nodo>()
  const walk = (unresolvedNode: Nodo, path: string, exigidos: ReadonlySet<unknown>) => {
    const { nombre = path, nodo } = resolver(documento, unresolvedNode)
    // Parts that others complete are looked at in each of their wholes.
    if (exigidos.size === 0) {
      if (seen.has(nodo)) return
      seen.add(nodo)
    }
    const parts = children(nodo.allOf)
    const ownNames = new Set([...exigidos, ...[nodo, ...parts].flatMap(({ required = [] }) => required as string[])])
    for (const [member, value] of Object.entries((nodo.properties ?? {}) as Nodo)) {
      if (!ownNames.has(member)) reached.add(`${nombre}.${member}`)
      walk(value as Nodo, `${nombre}.${member}`, new Set())
    }
    for (const part of parts) walk(part, nombre, ownNames)
    for (const other of [...children(nodo.oneOf), ...children(nodo.anyOf)]) walk(other, nombre, ownNames)
    for (const inside of [nodo.items, nodo.additionalProperties, nodo.contentSchema])
      if (inside !== null && typeof inside === 'object') walk(inside as Nodo, nombre, new Set())
  }
  walk(schema, 'answer', new Set())
  return reached
}

describe.each(['comercios', 'operaciones', 'publico'])('schemas that the contract %s sends', (name) => {
  const documento: Nodo = JSON.parse(readFileSync(new URL(`server/generated/contract/${name}.json`, ROOT), 'utf8'))

  it.each(enviados(documento))('%s: every member is always there', (_quien, schema) => {
    const omittableMembers = [...findOmittable(documento, schema)]
    expect(omittableMembers.filter((member) => !EXEMPT_MEMBERS.includes(member))).toEqual([])
  })
})

it('sees what may be absent, however deep, and only that', () => {
  const documento = { components: { schemas: { Base: { required: ['a'], properties: { a: {}, b: {}, c: {} } } } } }
  const base = { $ref: '#/components/schemas/Base' }
  const schema = {
    allOf: [base, { required: ['d', 'c'], properties: { d: { type: 'array', items: { properties: { e: {} } } } } }],
  }
  expect([...findOmittable(documento, schema)]).toEqual(['Base.b', 'answer.d.e'])
})

it('exempts nothing that isn’t there', () => {
  const documento: Nodo = JSON.parse(readFileSync(new URL('server/generated/contract/comercios.json', ROOT), 'utf8'))
  const omittableMembers = enviados(documento).flatMap(([, schema]) => [...findOmittable(documento, schema)])
  expect([...new Set(omittableMembers)].sort()).toEqual([...EXEMPT_MEMBERS].sort())
})
