/**
 * Flattens the members of a schema into a list. The name of a nested member contains its path: `recogida.lat`,
 * `guias[].telefono`.
 */
import { type Json, type JsonObject, resolveRef } from './contract.ts'

/** Member of a schema, with its path, type and description for readers. */
export interface DocumentedField {
  nombre: string
  tipo: string
  obligatorio: boolean
  descripcion: string
}

/** Maximum depth of nested members. Deeper members are documented on their own pages. */
const MAX_DEPTH = 4

/** Spanish names of JSON's types. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'texto',
  integer: 'entero',
  number: 'número',
  boolean: 'booleano',
  object: 'objeto',
  array: 'lista',
  null: 'nulo',
}

/** Returns a schema merged with the schemas of its `allOf`. */
function mergeSchema(contract: JsonObject, value: Json | undefined): JsonObject {
  const { allOf = [], ...ownSchema } = resolveRef(contract, value)
  const parts = [...(allOf as Json[]).map((part) => mergeSchema(contract, part)), ownSchema]
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required }) => (required ?? []) as Json[]),
  }
}

const variantsOf = (schema: JsonObject) => (schema.oneOf ?? schema.anyOf) as Json[] | undefined

/** Bounds that follow from whole numbers of 32 or 53 bits. They are left out, because they say nothing else. */
const IMPLIED_BOUNDS: ReadonlySet<Json | undefined> = new Set([undefined, 2_147_483_647, Number.MAX_SAFE_INTEGER])

/** Returns the bounds in Spanish, such as ` de 1 a 100` or ` de hasta 40`; an empty text if there are none. */
function entre(from: Json | undefined, until: Json | undefined): string {
  const [min, max] = [from, until].map((value) => (IMPLIED_BOUNDS.has(value) ? undefined : String(value)))
  if (min === max) return min === undefined ? '' : ` de ${min}`
  if (max === undefined) return ` desde ${min}`
  return min === undefined ? ` de hasta ${max}` : ` de ${min} a ${max}`
}

/** Formats of strings that imply a length. */
const FORMAT_NAMES: Readonly<Record<string, string>> = { 'date-time': 'fecha y hora', date: 'día', uri: 'dirección' }

/** Describes the restrictions of a schema besides its type: format, length, range and number of elements. */
function describeLimits(schema: JsonObject): string {
  const shape = FORMAT_NAMES[String(schema.format)]
  const lengthText = schema.enum || shape ? '' : entre(schema.minLength || undefined, schema.maxLength)
  const memberText = entre(schema.minProperties, schema.maxProperties)
  return [
    shape && ` (${shape})`,
    lengthText && `${lengthText} ${lengthText === ' de 1' ? 'carácter' : 'caracteres'}`,
    entre(schema.minimum, schema.maximum),
    memberText && `${memberText} miembros`,
  ]
    .filter(Boolean)
    .join('')
}

/**
 * Returns the type of a schema in Spanish, with its lengths and ranges, such as `lista de 1 a 100: texto` or
 * `texto de 1 a 40 caracteres o nulo`.
 */
export function schemaTypeOf(contract: JsonObject, value: Json | undefined): string {
  const schema = mergeSchema(contract, value)
  const ownVariants = variantsOf(schema)
  const variantTypes = [...new Set(ownVariants?.map((variant) => schemaTypeOf(contract, variant)).filter(Boolean))]
  if (variantTypes.length > 0) return variantTypes.join(' o ')
  if (schema.items) {
    const itemCount = entre(schema.minItems || undefined, schema.maxItems)
    return `lista${itemCount}${itemCount ? ':' : ' de'} ${schemaTypeOf(contract, schema.items)}`
  }
  const types = [
    schema.type ??
      (Object.keys(schema.properties as JsonObject).length > 0
        ? 'object'
        : schema.const === undefined
          ? []
          : typeof schema.const),
  ]
  const limits = describeLimits(schema)
  return types
    .flat()
    .map((type) => `${TYPE_NAMES[String(type)] ?? String(type)}${type === 'null' ? '' : limits}`)
    .join(' o ')
}

/** Describes the values that a schema, or the elements of its list, allows, and the default of an absent member. */
export function describeValues(contract: JsonObject, valor: Json | undefined): string {
  const schema = mergeSchema(contract, valor)
  const itemSchema = schema.items ? mergeSchema(contract, schema.items) : schema
  const values = (itemSchema.enum ?? (itemSchema.const === undefined ? [] : [itemSchema.const])) as Json[]
  const allowedText = values.length > 0 ? ` Valores: ${values.map((value) => `\`${String(value)}\``).join(', ')}.` : ''
  const defaultText = schema.default === undefined ? '' : ` Si falta, \`${JSON.stringify(schema.default)}\`.`
  return `${allowedText}${defaultText}`
}

/** Lists the members of a schema and of its nested schemas. The first of several members with the same path is kept. */
export function fieldsOf(contract: JsonObject, value: Json | undefined, prefix = '', level = 0): DocumentedField[] {
  const schema = mergeSchema(contract, value)
  const nestedFields = [
    ...(schema.items ? fieldsOf(contract, schema.items, `${prefix}[]`, level) : []),
    ...(variantsOf(schema) ?? []).flatMap((variant) => fieldsOf(contract, variant, prefix, level)),
  ]
  const ownFields = Object.entries((schema.properties ?? {}) as JsonObject).flatMap(
    ([key, member]): DocumentedField[] => {
      const nombre = [prefix, key].filter(Boolean).join('.')
      const memberSchema = mergeSchema(contract, member)
      const field = {
        nombre,
        tipo: schemaTypeOf(contract, member),
        obligatorio: ((schema.required ?? []) as Json[]).includes(key),
        descripcion: `${String(memberSchema.description ?? '').trim()}${describeValues(contract, memberSchema)}`.trim(),
      }
      return [field, ...(level < MAX_DEPTH ? fieldsOf(contract, member, nombre, level + 1) : [])]
    },
  )
  const seen = new Set<string>()
  return [...ownFields, ...nestedFields].filter(({ nombre }) => !seen.has(nombre) && seen.add(nombre))
}
