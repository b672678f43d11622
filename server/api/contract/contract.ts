import { readFileSync } from 'node:fs'
import type { Operaciones } from '../../generated/contract/operations.ts'
import type { ProblemCode } from '../../platform/errors.ts'
import { ROOT } from '../../platform/root.ts'
import { MINUTE_MS } from '../../platform/time/units.ts'
import type { RateClass } from '../limits/rates.ts'

export type OperationId = keyof Operaciones
export type JsonSchema = Readonly<Record<string, unknown>>

export interface ContractParameter {
  /** Name as the contract writes it. Node has the names of headers in lower case. */
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: JsonSchema
}
interface DocumentOperation {
  operationId: OperationId
  parameters?: readonly (ContractParameter | { $ref: string })[]
  requestBody?: { required?: boolean; content: Readonly<Record<string, { schema: JsonSchema }>> }
  responses: Readonly<Record<string, { content?: Readonly<Record<string, unknown>> }>>
  security?: readonly Readonly<Record<string, readonly string[]>>[]
  'x-limite-bytes'?: number
  'x-cuerpo-crudo'?: boolean
  'x-cuerpo-en-flujo'?: boolean
  'x-rechazo'?: ProblemCode
  'x-mismo-origen'?: boolean
  'x-presencia'?: boolean
  'x-sin-segundo-factor'?: boolean
  'x-ritmo'?: { clase: RateClass; por?: string }
}
export interface OpenApiDocument {
  openapi: string
  paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>
  components: Readonly<
    Record<'schemas' | 'parameters' | 'headers' | 'responses' | 'securitySchemes', Readonly<Record<string, JsonSchema>>>
  >
}

/** Returns the first segments of a path, which distinguish operations (`/repartidor/v1`) from pages (`/repartidor`). */
export const rootOf = (path: string): string => /^\/\w+\/v1(?=\/)|^\/[^/?]*/.exec(path)?.[0] ?? path

/** Operation of the contract, with the properties that the server needs. */
export interface Operation {
  id: OperationId
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Path as in the contract: `/api/v1/guias/{guia}`. */
  path: string
  security: { scheme: string; alcances: readonly string[]; inCookie: boolean } | undefined
  /** True if the operation also accepts a person's session in place of a key. */
  acceptsSesion: boolean
  /** True if a person's session must have proved the person's presence within {@link PRESENCE_MS}. */
  needsPresence: boolean
  /** True if the operation also accepts a session that still lacks its second factor. */
  skipsSecondFactor: boolean
  /** True if only pages of the service may call the operation, because browsers send cookies on their own. */
  needsSameOrigin: boolean
  parameters: readonly ContractParameter[]
  /** Declared media types of the body; empty if the operation takes no body. */
  tipos: readonly string[]
  bodyRequired: boolean
  /** Maximum size of the body, in bytes. */
  limite: number
  /**
   * Rate limit that a request counts against besides `solicitudes` (requests). The cost is 1, or the length of the list
   * that `rateBy` names.
   */
  rate: RateClass | undefined
  /** Name of the list in the body whose length is the cost. */
  rateBy: string | undefined
  /** True if the operation takes the raw bytes of the body, because a signature covers them. */
  raw: boolean
  /** True if the operation reads the body itself, as a stream of bytes of any type. */
  streamed: boolean
  /** Problem code for every invalid parameter, if the answer must not reveal what was invalid. */
  rechazo: ProblemCode | undefined
  /** HTTP statuses of the declared answers. */
  estados: readonly number[]
  /**
   * True if a client that names the current entity tag of the JSON (`If-None-Match`) gets a 304. An operation that also
   * answers with other types compares their entity tags itself.
   */
  conditional: boolean
}

/** Time in which a proof of presence allows a session to change keys and persons, in milliseconds. */
export const PRESENCE_MS = 5 * MINUTE_MS

/** Default of the maximum size of a body, in bytes. */
export const MAX_JSON_BYTES = 256 * 1024

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** Reports whether an answer has only one form, which is JSON. */
const onlyJson = (content: object = {}) => Object.keys(content).join() === 'application/json'

/** Returns the text of the bundled contract that `npm run generate` wrote: the union of the three documents. */
export const readContractText = (): string =>
  readFileSync(new URL('server/generated/contract/contrato.json', ROOT), 'utf8')

/** Returns the bundled contract as an object. */
export const readDocument = (text = readContractText()): OpenApiDocument => JSON.parse(text)

/** Returns all operations of a contract. References in the parameters and their schemas are resolved. */
export function readOperations(document: OpenApiDocument): Operation[] {
  const resolveSchema = (schemaOrRef: JsonSchema): JsonSchema => {
    if (typeof schemaOrRef.$ref === 'string')
      return resolveSchema(document.components.schemas[schemaOrRef.$ref.split('/').at(-1)!]!)
    const { items, anyOf, ...rest } = schemaOrRef as JsonSchema & { items?: JsonSchema; anyOf?: JsonSchema[] }
    return { ...rest, ...(items && { items: resolveSchema(items) }), ...(anyOf && { anyOf: anyOf.map(resolveSchema) }) }
  }
  const resolver = (parameterOrRef: ContractParameter | { $ref: string }): ContractParameter => {
    const parameter =
      '$ref' in parameterOrRef
        ? (document.components.parameters[parameterOrRef.$ref.split('/').at(-1)!] as unknown as ContractParameter)
        : parameterOrRef
    return { ...parameter, schema: resolveSchema(parameter.schema) }
  }
  return Object.entries(document.paths).flatMap(([path, operationsByMethod]) =>
    METHODS.filter((method) => method in operationsByMethod).map((method) => {
      const operation = operationsByMethod[method]!
      // Only bearer keys and cookies identify the caller. The operation itself checks a signature over the body.
      const [security] = Object.entries(operation.security?.[0] ?? {}).flatMap(([scheme, alcances]) => {
        const { type, in: where } = document.components.securitySchemes[scheme] ?? {}
        return type === 'http' || where === 'cookie' ? [{ scheme, alcances, inCookie: where === 'cookie' }] : []
      })
      // The merchants' contract is published and does not mention sessions of persons. All of its operations accept
      // one.
      const acceptsSesion =
        security?.scheme === 'llaveDeComercio' ||
        (operation.security ?? []).slice(1).some((schemes) => 'sesionDePersona' in schemes)
      return {
        id: operation.operationId,
        method,
        path,
        security,
        acceptsSesion,
        needsPresence: operation['x-presencia'] ?? false,
        skipsSecondFactor: operation['x-sin-segundo-factor'] ?? false,
        needsSameOrigin: operation['x-mismo-origen'] ?? (method !== 'get' && security?.inCookie === true),
        parameters: (operation.parameters ?? []).map(resolver),
        tipos: Object.keys(operation.requestBody?.content ?? {}),
        bodyRequired: operation.requestBody?.required ?? false,
        limite: operation['x-limite-bytes'] ?? MAX_JSON_BYTES,
        rate: operation['x-ritmo']?.clase,
        rateBy: operation['x-ritmo']?.por,
        raw: operation['x-cuerpo-crudo'] ?? false,
        streamed: operation['x-cuerpo-en-flujo'] ?? false,
        rechazo: operation['x-rechazo'],
        estados: Object.keys(operation.responses).map(Number),
        conditional: '304' in operation.responses && onlyJson(operation.responses[200]?.content),
      }
    }),
  )
}
