import type { Tool } from '../../server/pages/mcp/tool.ts'
import { type Json, type JsonObject, operacionesOf, parametersOf, resolveRef } from '../documentation/contract.ts'

/** Members of a schema that assistants read. Other members would only make the list of tools longer. */
const READ_MEMBERS = new Set([
  'type',
  'enum',
  'const',
  'format',
  'description',
  'default',
  'examples',
  'properties',
  'required',
  'items',
  'additionalProperties',
  'propertyNames',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
])

/** Returns a description without its links, because a tool cannot follow them, and without the line about its scope. */
const toPlainText = (text: Json | undefined) =>
  String(text ?? '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^Alcance: .*$/m, '')
    .trim()

/** Returns a schema with its references resolved and without members that only other readers need. */
function toToolSchema(contract: JsonObject, schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((item) => toToolSchema(contract, item))
  if (schema === null || typeof schema !== 'object') return schema
  const resolved = resolveRef(contract, schema)
  const keptMembers = Object.entries(resolved).filter(([key]) => READ_MEMBERS.has(key))
  return Object.fromEntries(
    keptMembers.map(([key, value]) => {
      if (key === 'description') return [key, toPlainText(value)]
      if (key === 'examples') return [key, (value as Json[]).slice(0, 1)]
      if (key !== 'properties')
        return [key, ['enum', 'default', 'required'].includes(key) ? value : toToolSchema(contract, value)]
      return [
        key,
        Object.fromEntries(Object.entries(value as JsonObject).map(([n, v]) => [n, toToolSchema(contract, v)])),
      ]
    }),
  )
}

/** Returns the schema of a request's body, with the parts of `allOf` merged; undefined without a body. */
function bodySchemaOf(contract: JsonObject, definition: JsonObject): JsonObject | undefined {
  const json = (resolveRef(contract, definition.requestBody).content as JsonObject | undefined)?.['application/json']
  if (!json) return undefined
  const {
    allOf = [],
    properties = {},
    required = [],
    ...rest
  } = toToolSchema(contract, (json as JsonObject).schema!) as JsonObject
  const parts = [...(allOf as JsonObject[]), { properties, required }]
  return {
    ...rest,
    properties: Object.assign({}, ...parts.map((part) => part.properties ?? {})),
    required: [...new Set(parts.flatMap((part) => (part.required ?? []) as string[]))],
  }
}

/** Argument of the tools for `Idempotency-Key`. Assistants get names of one kind. */
const KEY_NAME = 'clave_de_idempotencia'

function buildInput(
  contract: JsonObject,
  operation: ReturnType<typeof operacionesOf>[number],
  repeatedArgument: string | undefined,
) {
  const properties: JsonObject = {}
  const required: string[] = []
  const places: Record<string, 'path' | 'query' | 'key'> = {}
  const addArgument = (name: string, argumentSchema: Json) => {
    if (name in properties) throw new Error(`${operation.id} has two arguments «${name}»`)
    properties[name] = argumentSchema
  }
  for (const { name, in: place, required: obligatorio, schema, description } of parametersOf(contract, operation)) {
    const isKey = name === 'Idempotency-Key'
    if (place === 'header' && !isKey) continue
    const nombre = isKey ? KEY_NAME : String(name)
    addArgument(nombre, {
      ...(toToolSchema(contract, schema!) as JsonObject),
      ...(description ? { description: toPlainText(description) } : {}),
    })
    places[nombre] = isKey ? 'key' : (place as 'path' | 'query')
    if (obligatorio) required.push(nombre)
  }
  const body = bodySchemaOf(contract, operation.definition)
  for (const [name, memberSchema] of Object.entries((body?.properties ?? {}) as JsonObject))
    addArgument(name, memberSchema)
  required.push(...((body?.required ?? []) as string[]))
  if (repeatedArgument) {
    const description = `Repita el código de «${repeatedArgument}». Así consta que el cambio es de la que se quiere cambiar.`
    addArgument('confirmar', { type: 'string', description })
    required.push('confirmar')
  }
  // Some models take no alternatives (`anyOf`, `oneOf`) at the root. The operation itself refuses wrong combinations.
  return { donde: places, schema: { type: 'object', properties, required, additionalProperties: false } }
}

/**
 * Returns the tools that assistants get: one for each operation that takes a merchant's key. Path, query and body of
 * the operation are the tool's arguments side by side.
 */
export function toolsOf(contract: JsonObject): Tool[] {
  return operacionesOf(contract).flatMap((operation) => {
    const { id, path, definition } = operation
    const [security] = (definition.security ?? contract.security) as Record<string, string[]>[]
    const alcances = security?.llaveDeComercio
    if (!alcances) return []
    const isWrite = definition['x-bitacora'] === 'evento' || definition['x-bitacora'] === 'cambio'
    const repeatedArgument = isWrite ? /\{(\w+)\}/.exec(path)?.[1] : undefined
    const { donde: places, schema: inputSchema } = buildInput(contract, operation, repeatedArgument)
    return {
      nombre: id as Tool['nombre'],
      titulo: String(definition.summary),
      descripcion: `${String(definition.summary)}. ${toPlainText(definition.description)}`,
      alcances,
      isWrite,
      isRepeatable: definition['x-repetible'] === true,
      isTestOnly: path.includes('/simulador/'),
      ...(repeatedArgument ? { confirma: repeatedArgument } : {}),
      donde: places,
      hasBody: definition.requestBody !== undefined,
      input: inputSchema as Tool['input'],
    }
  })
}
