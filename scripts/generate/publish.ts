import { DIRECCION } from '../../server/pages/docs/address.ts'
import type { Json, JsonObject } from '../documentation/contract.ts'

/**
 * Extensions (`x-…`) that only the server and the generators read. Every other extension is information for readers of
 * the contract.
 */
export const INTERNAL_EXTENSIONS: ReadonlySet<string> = new Set([
  'x-cuerpo-crudo',
  'x-cuerpo-en-flujo',
  'x-invertible',
  'x-mensaje',
  'x-mensaje-lista',
  'x-mensajes-requeridos',
  'x-mismo-origen',
  'x-patron',
  'x-rechazo',
  'x-sobre',
  'x-telefono',
])

function copyTransformed(value: Json, transform: (object: JsonObject) => JsonObject): Json {
  if (Array.isArray(value)) return value.map((item) => copyTransformed(item, transform))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(transform(value)).map(([key, inner]) => [key, copyTransformed(inner, transform)]),
  )
}

/** Removes from the merchants' contract the problems that only couriers and operators can receive (`ajeno`). */
export const withoutForeignProblemas = (contract: JsonObject) =>
  copyTransformed(contract, ({ 'x-problemas': problemas, ...object }) => {
    if (problemas === undefined) return object
    const ownProblemas = Object.entries(problemas as Record<string, JsonObject>).filter(
      ([, { ajeno: foreign }]) => foreign !== true,
    )
    return { ...object, enum: ownProblemas.map(([code]) => code), 'x-problemas': Object.fromEntries(ownProblemas) }
  }) as JsonObject

/** Returns the published contract, without the extensions in {@link INTERNAL_EXTENSIONS}. */
export const toPublished = (contract: JsonObject) =>
  copyTransformed(contract, (object) =>
    Object.fromEntries(Object.entries(object).filter(([key]) => !INTERNAL_EXTENSIONS.has(key))),
  ) as JsonObject

/** Returns a text whose links to the service hold in every viewer. */
const withAbsoluteLinks = (text: string) => text.replace(/\]\(\//g, `](${DIRECCION}/`)

/**
 * Returns the published contract as the service serves it: without the guide, which `externalDocs` names. Its server
 * and the addresses in its texts begin with the example address, in whose place the service puts its own. A repetition's 200 beside a creation's 201 becomes `2XX`, because mock servers answer the lowest status
 * that they find.
 */
export const toServed = (contract: JsonObject) =>
  copyTransformed(
    { ...contract, servers: [{ url: DIRECCION, description: 'La dirección del servicio' }] },
    (object) => {
      const { 'x-guia': _, ...rest } = object
      if (typeof rest.description === 'string') rest.description = withAbsoluteLinks(rest.description)
      const { 200: repetida, ...otherResponses } = (rest.responses ?? {}) as Record<string, JsonObject>
      if (!repetida || !otherResponses[201]) return rest
      const description = `Con el estado 200: ${repetida.description}`
      return { ...rest, responses: { ...otherResponses, '2XX': { ...repetida, description } } }
    },
  ) as JsonObject

/**
 * Returns the contract for the server's validation, with `x-patron` in place of `pattern`. The published `pattern`
 * contains only what the regular expressions of all tools support.
 */
export const toServerContract = (contract: JsonObject) =>
  copyTransformed(contract, ({ 'x-patron': pattern, ...object }) =>
    pattern === undefined ? object : { ...object, pattern },
  ) as JsonObject
