import {
  type ContractOperacion,
  type JsonObject,
  operacionesOf,
  parametersOf,
  requiresLlave,
  resolveRef,
} from '../documentation/contract.ts'
import { capitalize } from './operationIndex.ts'

/**
 * Tells if a body has the member that `x-repetible` names. `guias/external_ref` is the `external_ref` of each entry of
 * `guias`.
 */
function hasMember(contract: JsonObject, schema: JsonObject, [member, ...rest]: string[]): boolean {
  if (member === undefined) return true
  const parts = [schema, ...((schema.allOf ?? []) as JsonObject[])].map((part) => resolveRef(contract, part))
  return parts.some((part) => {
    const memberSchema = resolveRef(contract, ((part.properties ?? {}) as JsonObject)[member])
    return (
      Object.keys(memberSchema).length > 0 &&
      hasMember(contract, resolveRef(contract, memberSchema.items ?? memberSchema), rest)
    )
  })
}

/** Reports whether an operation takes a key for its repetition. */
export const takesKey = (contract: JsonObject, operation: ContractOperacion): boolean =>
  parametersOf(contract, operation).some(({ name }) => name === 'Idempotency-Key')

/**
 * Returns the `x-repetible` of an operation. It is true, false, `clave` (safe to repeat with an `Idempotency-Key`), or
 * the path of a body member. With a path, a request that has the member is safe to repeat. Any other request needs the
 * key.
 * @throws if the value is none of these, or if the operation takes no key that it needs
 */
function readRepeatability(contract: JsonObject, operation: ContractOperacion): boolean | string {
  const { id, definition } = operation
  const stated = definition['x-repetible']
  if (typeof stated === 'boolean') return stated
  const types = (definition.requestBody as JsonObject | undefined)?.content as Record<string, JsonObject> | undefined
  const body = resolveRef(contract, types?.['application/json']?.schema)
  const vale = stated === 'clave' || (typeof stated === 'string' && hasMember(contract, body, stated.split('/')))
  if (vale && takesKey(contract, operation)) return stated as string
  throw new Error(
    `${id}: x-repetible must be true or false, or, with Idempotency-Key, \`clave\` or a member of its body, and is ${JSON.stringify(stated)}`,
  )
}

/**
 * Returns the source of the SDK's operations: their types by method and path, and the `x-repetible` of operations that
 * differ from the default of their method.
 * @throws if a path is not below `/api/v1`, or `x-repetible` is invalid
 */
export function renderSdkOperaciones(contract: JsonObject): string {
  const operations = operacionesOf(contract)
    .filter(({ definition }) => requiresLlave(contract, definition))
    .map((operation) => {
      const { id, method, path } = operation
      if (!path.startsWith('/api/v1/')) throw new Error(`${id}: ${path} isn't below /api/v1`)
      const clave = `'${method.toUpperCase()} ${path.slice('/api/v1'.length)}'`
      const methodDefault = method !== 'post' && method !== 'patch'
      return { tipo: capitalize(id), clave, stated: readRepeatability(contract, operation), methodDefault }
    })
  const types = operations.flatMap(({ tipo }) => [`${tipo}Data`, `${tipo}Response`])
  const rows = operations
    .filter(({ stated, methodDefault }) => stated !== methodDefault)
    .map(({ clave, stated }) => `  ${clave}: '${stated}',`)
  return `import type { ${types.join(', ')} } from './types.gen.js'

/** Request and success answer of each operation, by its method and its path below \`/api/v1\`. */
export interface Operaciones {
${operations.map(({ tipo, clave }) => `  ${clave}: { datos: ${tipo}Data; salida: ${tipo}Response }`).join('\n')}
}

/**
 * \`x-repetible\` of the operations that differ from the default of their method. The default is \`false\` for POST and
 * PATCH, and \`true\` for the other methods.
 */
export const REPEATABLE_OPERATIONS: { readonly [O in keyof Operaciones]?: string } = {
${rows.join('\n')}
}
`
}
