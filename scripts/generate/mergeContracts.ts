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
      for (const [name, value] of Object.entries(((bundle.components as JsonObject)[kind] ?? {}) as JsonObject)) {
        const cleaned = withoutExamples(value)
        if (name in destino && !isDeepStrictEqual(destino[name], cleaned)) {
          throw new Error(`components.${kind}.${name} differs between documents`)
        }
        destino[name] = cleaned
      }
    }
  }
  return { ...union, components } as unknown as JsonObject
}

/** Removes examples and samples, which the server does not need. Keeps the `examples` of schemas, which are arrays. */
function withoutExamples(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutExamples)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, v]) => !['example', 'x-codeSamples'].includes(key) && !(key === 'examples' && !Array.isArray(v)))
      .map(([key, v]) => [key, withoutExamples(v)]),
  )
}
