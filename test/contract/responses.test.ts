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

const hijos = (nodo: unknown): Nodo[] => (nodo === undefined ? [] : (Object.values(nodo as Nodo) as Nodo[]))

/** The node itself, or what its `$ref` names, with that name. */
function resolver(documento: Nodo, nodo: Nodo): { nombre: string | undefined; nodo: Nodo } {
  if (typeof nodo.$ref !== 'string') return { nombre: undefined, nodo }
  const pasos = nodo.$ref.split('/').slice(1)
  const hallado = pasos.reduce<Nodo>((dentro, paso) => dentro[paso.replaceAll('~1', '/')] as Nodo, documento)
  return { nombre: pasos.at(-1), nodo: hallado }
}

/** The schemas of everything that the service sends when all is well, by who sends it. */
function enviados(documento: Nodo): [quien: string, esquema: Nodo][] {
  const esquemas: [string, Nodo][] = []
  const anotar = (quien: string, conContenido: Nodo) => {
    const { nodo } = resolver(documento, conContenido)
    for (const { schema } of hijos(nodo.content)) esquemas.push([quien, schema as Nodo])
  }
  for (const ruta of hijos(documento.paths))
    for (const { operationId, responses } of hijos(ruta))
      for (const [estado, respuesta] of Object.entries((responses ?? {}) as Nodo))
        if (estado.startsWith('2')) anotar(`${operationId} ${estado}`, respuesta as Nodo)
  for (const webhook of hijos(documento.webhooks))
    for (const { operationId, requestBody } of hijos(webhook)) anotar(String(operationId), requestBody as Nodo)
  return esquemas
}

/** Members of a sent schema, of whatever is inside it too, that may be absent: `Schema.member`. */
function ausentables(documento: Nodo, esquema: Nodo): Set<string> {
  const hallados = new Set<string>()
  const vistos = new Set<Nodo>()
  const recorrer = (sinResolver: Nodo, donde: string, exigidos: ReadonlySet<unknown>) => {
    const { nombre = donde, nodo } = resolver(documento, sinResolver)
    // Parts that others complete are looked at in each of their wholes.
    if (exigidos.size === 0) {
      if (vistos.has(nodo)) return
      vistos.add(nodo)
    }
    const partes = hijos(nodo.allOf)
    const propios = new Set([...exigidos, ...[nodo, ...partes].flatMap(({ required = [] }) => required as string[])])
    for (const [miembro, valor] of Object.entries((nodo.properties ?? {}) as Nodo)) {
      if (!propios.has(miembro)) hallados.add(`${nombre}.${miembro}`)
      recorrer(valor as Nodo, `${nombre}.${miembro}`, new Set())
    }
    for (const parte of partes) recorrer(parte, nombre, propios)
    for (const otra of [...hijos(nodo.oneOf), ...hijos(nodo.anyOf)]) recorrer(otra, nombre, propios)
    for (const dentro of [nodo.items, nodo.additionalProperties, nodo.contentSchema])
      if (dentro !== null && typeof dentro === 'object') recorrer(dentro as Nodo, nombre, new Set())
  }
  recorrer(esquema, 'answer', new Set())
  return hallados
}

describe.each(['comercios', 'operaciones', 'publico'])('schemas that the contract %s sends', (nombre) => {
  const documento: Nodo = JSON.parse(readFileSync(new URL(`server/generated/contract/${nombre}.json`, ROOT), 'utf8'))

  it.each(enviados(documento))('%s: every member is always there', (_quien, esquema) => {
    const faltables = [...ausentables(documento, esquema)]
    expect(faltables.filter((miembro) => !EXENTOS.includes(miembro))).toEqual([])
  })
})

it('sees what may be absent, however deep, and only that', () => {
  const documento = { components: { schemas: { Base: { required: ['a'], properties: { a: {}, b: {}, c: {} } } } } }
  const base = { $ref: '#/components/schemas/Base' }
  const esquema = {
    allOf: [base, { required: ['d', 'c'], properties: { d: { type: 'array', items: { properties: { e: {} } } } } }],
  }
  expect([...ausentables(documento, esquema)]).toEqual(['Base.b', 'answer.d.e'])
})

it('exempts nothing that isn’t there', () => {
  const documento: Nodo = JSON.parse(readFileSync(new URL('server/generated/contract/comercios.json', ROOT), 'utf8'))
  const faltables = enviados(documento).flatMap(([, esquema]) => [...ausentables(documento, esquema)])
  expect([...new Set(faltables)].sort()).toEqual([...EXENTOS].sort())
})
