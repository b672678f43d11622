import { escapeToken, unescapeToken } from '../../platform/jsonPointer.ts'
import type { OpenApiDocument } from './contract.ts'

/** The parts of a schema that decide whether a value may be null. */
interface Schema {
  $ref?: string
  type?: string | readonly string[]
  enum?: readonly unknown[]
  const?: unknown
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  allOf?: readonly Schema[]
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
}

/** Value without the nulls that count as absent, and their places. */
export interface WithoutNulls {
  value: unknown
  /** Places of the removed members, as JSON Pointers (RFC 6901). */
  nulls: readonly string[]
}

/** Member of an object, as the contract declares it. */
interface Member {
  /** The schemas of its value, combined ones included. */
  schemas: readonly Schema[]
  /** True if null counts as absent. */
  optional: boolean
}

/**
 * Creates a function that removes from a request the optional members that are null although their schema does not
 * admit null. Clients in PHP, Java and C# write null where a member has no value. Where the schema admits null, it has a
 * meaning and stays. The function takes a value and the JSON pointer to its schema in the contract.
 */
export function createNullRemover(document: OpenApiDocument): (ref: string, value: unknown) => WithoutNulls {
  const resolve = (pointer: string) =>
    pointer
      .slice(1)
      .split('/')
      .reduce<unknown>((node, key) => (node as Record<string, unknown>)[unescapeToken(key)], document) as Schema
  /** Returns a schema and every schema that it combines. Those of `anyOf` and `oneOf` require nothing by themselves. */
  const partsOf = (schema: Schema): Schema[] => [
    schema,
    ...(schema.$ref ? partsOf(resolve(schema.$ref.replace(/^#/, ''))) : []),
    ...(schema.allOf ?? []).flatMap(partsOf),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(partsOf).map(({ required: _, ...part }) => part),
  ]
  const roots = new Map<string, readonly Schema[]>()
  const ofRoot = (ref: string) => remembered(roots, ref, () => partsOf(resolve(ref)))
  const items = new WeakMap<readonly Schema[], readonly Schema[]>()
  const ofItems = (schemas: readonly Schema[]) =>
    remembered(items, schemas, () => schemas.flatMap((schema) => (schema.items ? partsOf(schema.items) : [])))
  const members = new WeakMap<readonly Schema[], Map<string, Member>>()
  const others = new WeakMap<readonly Schema[], Member>()
  const ofMember = (schemas: readonly Schema[], key: string) => {
    const declared = schemas.flatMap(({ properties }) =>
      properties && Object.hasOwn(properties, key) ? [properties[key]!] : [],
    )
    const known = remembered(members, schemas, () => new Map<string, Member>())
    // Only names of the contract are remembered: a client chooses the others.
    if (declared.length > 0) return remembered(known, key, () => memberOf(schemas, key, declared))
    return remembered(others, schemas, () =>
      memberOf(
        schemas,
        key,
        schemas.flatMap((schema) =>
          typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [],
        ),
      ),
    )
  }
  const memberOf = (schemas: readonly Schema[], key: string, declared: readonly Schema[]): Member => {
    const own = declared.flatMap(partsOf)
    const isRequired = schemas.some(({ required }) => required?.includes(key))
    return { schemas: own, optional: !isRequired && own.some(limitsValues) && !own.some(admitsNull) }
  }

  return (ref, value) => {
    const nulls: string[] = []
    const strip = (schemas: readonly Schema[], inner: unknown, place: string): unknown => {
      if (inner === null || typeof inner !== 'object' || schemas.length === 0) return inner
      if (Array.isArray(inner)) return inner.map((item, index) => strip(ofItems(schemas), item, `${place}/${index}`))
      const kept: [string, unknown][] = []
      for (const [key, member] of Object.entries(inner)) {
        if (member !== null && typeof member !== 'object') {
          kept.push([key, member])
          continue
        }
        const { schemas: own, optional } = ofMember(schemas, key)
        const here = `${place}/${escapeToken(key)}`
        if (member === null && optional) nulls.push(here)
        else kept.push([key, strip(own, member, here)])
      }
      return Object.fromEntries(kept)
    }
    const stripped = strip(ofRoot(ref), value, '')
    return { value: nulls.length > 0 ? stripped : value, nulls }
  }
}

/** Returns what a map has for a key, after adding it if the map has nothing. */
function remembered<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

const admitsNull = ({ type, enum: values, const: only }: Schema) =>
  type === 'null' || (Array.isArray(type) && type.includes('null')) || only === null || (values ?? []).includes(null)

const limitsValues = ({ type, enum: values, const: only }: Schema) =>
  type !== undefined || values !== undefined || only !== undefined
