import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../documentation/contract.ts'

/** Names of the three APIs' contracts. */
export const DOCUMENT_NAMES = ['comercios', 'operaciones', 'publico'] as const

/**
 * Merges the three bundles into one document for the server. They share components, and operationIds are unique over
 * all.
 * @throws if a component differs between documents
 */
export function mergeContracts(bundles: readonly JsonObject[]): JsonObject {
  const union = {
    openapi: '3.1.0',
    info: { title: 'Guías', version: '0' },
    servers: [{ url: '/' }],
    paths: {} as JsonObject,
  }
  const components: Record<string, JsonObject> = {
    schemas: {},
    parameters: {},
    headers: {},
    responses: {},
    securitySchemes: {},
  }
  for (const bundle of bundles) {
    Object.assign(union.paths, withoutExamples(bundle.paths ?? {}))
    for (const [kind, destino] of Object.entries(components)) {
      for (const [nombre, valor] of Object.entries(((bundle.components as JsonObject)[kind] ?? {}) as JsonObject)) {
        const cleaned = withoutExamples(valor)
        if (nombre in destino && !isDeepStrictEqual(destino[nombre], cleaned)) {
          throw new Error(`components.${kind}.${nombre} differs between documents`)
        }
        destino[nombre] = cleaned
      }
    }
  }
  return { ...union, components } as unknown as JsonObject
}

/** Removes examples and samples, which the server does not need. Keeps the `examples` of schemas, which are arrays. */
function withoutExamples(valor: Json): Json {
  if (Array.isArray(valor)) return valor.map(withoutExamples)
  if (valor === null || typeof valor !== 'object') return valor
  return Object.fromEntries(
    Object.entries(valor)
      .filter(
        ([clave, v]) => !['example', 'x-codeSamples'].includes(clave) && !(clave === 'examples' && !Array.isArray(v)),
      )
      .map(([clave, v]) => [clave, withoutExamples(v)]),
  )
}
