// Absent and null follow one rule in what the service sends: a declared member is always there, null when it has no value.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'

type Nodo = Record<string, unknown>

/** Members of some problems only. A batch's entry needs no exemption: with `guia` and with `error` it is two schemas. */
const EXENTOS = [
  ...['errores_omitidos', 'guia', 'estado', 'transiciones', 'admitida_en', 'decision', 'opciones', 'secuencia'].map(
    (miembro) => `DatosDeProblema.${miembro}`,
  ),
  'Falla.sugerencia',
]

const hijos = (node: unknown): Nodo[] => (node === undefined ? [] : (Object.values(node as Nodo) as Nodo[]))

/** The node itself, or what its `$ref` names, with that name. */
function resolver(documento: Nodo, nodo: Nodo): { nombre: string | undefined; nodo: Nodo } {
  if (typeof nodo.$ref !== 'string') return { nombre: undefined, nodo }
  const steps = nodo.$ref.split('/').slice(1)
  const hallado = steps.reduce<Nodo>((inside, step) => inside[step.replaceAll('~1', '/')] as Nodo, documento)
  return { nombre: steps.at(-1), nodo: hallado }
}

/** The schemas of everything that the service sends when all is well, by who sends it. */
function enviados(documento: Nodo): [quien: string, esquema: Nodo][] {
  const esquemas: [string, Nodo][] = []
  const anotar = (caller: string, conContenido: Nodo) => {
    const { nodo } = resolver(documento, conContenido)
    for (const { schema } of hijos(nodo.content)) esquemas.push([caller, schema as Nodo])
  }
  for (const path of hijos(documento.paths))
    for (const { operationId, responses } of hijos(path))
      for (const [estado, response] of Object.entries((responses ?? {}) as Nodo))
        if (estado.startsWith('2')) anotar(`${operationId} ${estado}`, response as Nodo)
  for (const webhook of hijos(documento.webhooks))
    for (const { operationId, requestBody } of hijos(webhook)) anotar(String(operationId), requestBody as Nodo)
  return esquemas
}

/** Members of a sent schema, of whatever is inside it too, that may be absent: `Schema.member`. */
function ausentables(documento: Nodo, schema: Nodo): Set<string> {
  const hallados = new Set<string>()
  const seen = new Set<Nodo>()
  const recorrer = (sinResolver: Nodo, donde: string, exigidos: ReadonlySet<unknown>) => {
    const { nombre = donde, nodo } = resolver(documento, sinResolver)
    // Parts that others complete are looked at in each of their wholes.
    if (exigidos.size === 0) {
      if (seen.has(nodo)) return
      seen.add(nodo)
    }
    const parts = hijos(nodo.allOf)
    const propios = new Set([...exigidos, ...[nodo, ...parts].flatMap(({ required = [] }) => required as string[])])
    for (const [miembro, value] of Object.entries((nodo.properties ?? {}) as Nodo)) {
      if (!propios.has(miembro)) hallados.add(`${nombre}.${miembro}`)
      recorrer(value as Nodo, `${nombre}.${miembro}`, new Set())
    }
    for (const part of parts) recorrer(part, nombre, propios)
    for (const other of [...hijos(nodo.oneOf), ...hijos(nodo.anyOf)]) recorrer(other, nombre, propios)
    for (const inside of [nodo.items, nodo.additionalProperties, nodo.contentSchema])
      if (inside !== null && typeof inside === 'object') recorrer(inside as Nodo, nombre, new Set())
  }
  recorrer(schema, 'answer', new Set())
  return hallados
}

describe.each(['comercios', 'operaciones', 'publico'])('schemas that the contract %s sends', (name) => {
  const documento: Nodo = JSON.parse(readFileSync(new URL(`server/generated/contract/${name}.json`, ROOT), 'utf8'))

  it.each(enviados(documento))('%s: every member is always there', (_quien, schema) => {
    const faltables = [...ausentables(documento, schema)]
    expect(faltables.filter((miembro) => !EXENTOS.includes(miembro))).toEqual([])
  })
})

it('sees what may be absent, however deep, and only that', () => {
  const documento = { components: { schemas: { Base: { required: ['a'], properties: { a: {}, b: {}, c: {} } } } } }
  const base = { $ref: '#/components/schemas/Base' }
  const schema = {
    allOf: [base, { required: ['d', 'c'], properties: { d: { type: 'array', items: { properties: { e: {} } } } } }],
  }
  expect([...ausentables(documento, schema)]).toEqual(['Base.b', 'answer.d.e'])
})

it('exempts nothing that isn’t there', () => {
  const documento: Nodo = JSON.parse(readFileSync(new URL('server/generated/contract/comercios.json', ROOT), 'utf8'))
  const faltables = enviados(documento).flatMap(([, schema]) => [...ausentables(documento, schema)])
  expect([...new Set(faltables)].sort()).toEqual([...EXENTOS].sort())
})
