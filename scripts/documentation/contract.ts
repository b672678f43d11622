/** Functions with which the generators, and the tests of their output, read a bundled contract. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

export interface ContractOperacion {
  id: string
  method: string
  /** Path as the contract writes it, such as `/api/v1/guias/{guia}`. */
  path: string
  definition: JsonObject
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete'])

/** Lists the operations of a contract, in its order. */
export const operacionesOf = (contract: JsonObject): ContractOperacion[] =>
  Object.entries(contract.paths as Record<string, JsonObject>).flatMap(([path, definitionsByMethod]) =>
    Object.entries(definitionsByMethod)
      .filter(([method]) => METHODS.has(method))
      .map(([method, value]) => {
        const definition = value as JsonObject
        return { id: definition.operationId as string, method, path, definition }
      }),
  )

/**
 * Tells if an operation requires a key. An operation without `security` has the document's; an empty list requires no
 * key.
 */
export const requiresLlave = (contract: JsonObject, definition: JsonObject) =>
  ((definition.security ?? contract.security) as JsonObject[]).length > 0

export const schemasOf = (contract: JsonObject) =>
  (contract.components as JsonObject).schemas as Record<string, JsonObject>

/**
 * Returns an object, or the target of its `$ref`. Members beside a `$ref`, such as a description, override those of the
 * target.
 */
export function resolveRef(contract: JsonObject, value: Json | undefined): JsonObject {
  const { $ref, ...ownMembers } = (value ?? {}) as JsonObject
  if (typeof $ref !== 'string') return (value ?? {}) as JsonObject
  const parts = $ref.slice(2).split('/')
  const destino = parts.reduce<Json>((node, part) => (node as JsonObject)[part.replaceAll('~1', '/')] ?? null, contract)
  return { ...resolveRef(contract, destino), ...ownMembers }
}

/** Returns the named examples of a body; none if the body is not JSON. */
export function examplesOf(contract: JsonObject, body: Json | undefined): [nombre: string, example: JsonObject][] {
  const json = ((resolveRef(contract, body).content ?? {}) as JsonObject)['application/json'] as JsonObject | undefined
  return Object.entries((json?.examples ?? {}) as JsonObject).map(([name, entry]) => [
    name,
    resolveRef(contract, entry),
  ])
}

/** Returns the parameters of an operation, with references resolved. */
export const parametersOf = (contract: JsonObject, { definition }: ContractOperacion): JsonObject[] =>
  ((definition.parameters ?? []) as Json[]).map((entry) => resolveRef(contract, entry))
