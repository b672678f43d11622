import { escapeToken } from '../../platform/jsonPointer.ts'
import type { OpenApiDocument, Operation } from './contract.ts'

// This module prepares the contract's schemas for three compilers. They are the generator of the validators, the
// explainer of faults and express-openapi-validator.

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type JsonObject = { [key: string]: Json }

/** Returns a deep copy. `change` may replace the members of each object, from the outside in. */
function copyTree(node: Json, change: (object: JsonObject) => JsonObject): Json {
  if (Array.isArray(node)) return node.map((element) => copyTree(element, change))
  if (node === null || typeof node !== 'object') return node
  return Object.fromEntries(Object.entries(change(node)).map(([key, value]) => [key, copyTree(value, change)]))
}

/**
 * Reduces the schema of an envelope (`x-sobre`) to its required members and the length of its lists. The operation
 * checks each item itself, because an invalid item must not fail the others.
 */
function sobre({ additionalProperties: _, properties, ...rest }: JsonObject): JsonObject {
  const required = (rest.required as string[]).map((member) => {
    const listSchema = (properties as JsonObject)[member] as JsonObject
    return [member, { ...listSchema, items: {} }]
  })
  return { ...rest, properties: Object.fromEntries(required) }
}

/** Returns the contract with which requests are validated: schemas of envelopes (`x-sobre`) are reduced. */
export const forInput = (document: OpenApiDocument) =>
  copyTree(document as unknown as Json, (object) =>
    object['x-sobre'] === true ? sobre(object) : object,
  ) as unknown as OpenApiDocument

const WITHOUT_EFFECT = new Set(['description', 'summary', 'title', 'tags', 'examples', 'example', 'headers'])

/**
 * Returns a copy of a part of the contract without texts, answers and extensions, which decide about no request.
 * @param keywords extensions that are keywords and stay
 */
export function prune<T>(part: T, keywords: readonly string[] = []): T {
  const propertyMaps = new Set<unknown>()
  const isUsed = (key: string) => !WITHOUT_EFFECT.has(key) && (!key.startsWith('x-') || keywords.includes(key))
  return copyTree(part as Json, (object) => {
    if (object.properties) propertyMaps.add(object.properties)
    // The keys of a `properties` object are names of properties, not keywords.
    if (propertyMaps.has(object)) return object
    return Object.fromEntries(
      Object.entries(object)
        .filter(([key]) => isUsed(key))
        .map(([key, value]) => [key, key === 'responses' ? {} : value]),
    )
  }) as T
}

/**
 * Returns a contract for express-openapi-validator with only the parameters of these operations, references resolved.
 * The library compiles its whole input for each operation, so other parts would only cost start-up time.
 */
export function withParameters(operations: readonly Operation[]) {
  const paths: Record<string, Record<string, object>> = {}
  for (const { id, path, method, parameters } of operations) {
    paths[path] ??= {}
    paths[path][method] = { operationId: id, parameters: prune(parameters).map(withoutAdditional), responses: {} }
  }
  return { openapi: '3.1.0', info: { title: 'parameters', version: '1' }, paths }
}

/**
 * Replaces a parameter's `additionalProperties` with an equivalent `patternProperties`, which matches any key. With
 * `additionalProperties`, express-openapi-validator would accept every unknown parameter of the operation.
 */
function withoutAdditional(parameter: Operation['parameters'][number]) {
  const { additionalProperties, ...schema } = parameter.schema
  if (additionalProperties === undefined) return parameter
  return {
    ...parameter,
    schema: { ...schema, patternProperties: { '': additionalProperties }, additionalProperties: false },
  }
}

/**
 * Reports whether the body of an operation is JSON, which a schema validates. Raw and streamed bodies are never parsed.
 */
export const carriesJson = ({ tipos, raw, streamed }: Operation) => tipos.length === 1 && !raw && !streamed

/** JSON pointer to the schema of an operation's body in the contract. */
export const bodyRef = ({ path, method, tipos }: Operation) =>
  `/paths/${escapeToken(path)}/${method}/requestBody/content/${escapeToken(tipos[0]!)}/schema`

/** JSON pointer to the schema of a component in the contract. */
export const schemaRef = (schema: string) => `/components/schemas/${schema}`
