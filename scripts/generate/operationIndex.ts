import { type JsonObject, operacionesOf, resolveRef } from '../documentation/contract.ts'

/** Returns a text with its first letter in upper case. */
export const capitalize = (text: string) => text[0]?.toUpperCase() + text.slice(1)

/**
 * Returns the source of the interface `Operaciones`, from which `Handler<'operationId'>` derives its types. For each
 * operationId it has the types, the security scheme and the headers of each response. The scheme is that of bearer keys
 * or cookies, which identify the caller; an operation verifies a signature itself. ETag headers of JSON, and the 304
 * for a client with the current version, are left out, because `server/api/http/conditional.ts` adds them. The name of
 * a header with `required: false` ends with `?`, because not every answer has it. `oBytes` is true if the answer 200 has
 * other media types beside JSON; the types of hey-api have only the first one.
 */
export function renderOperacionIndex(contract: JsonObject): string {
  const schemes = (contract.components as JsonObject).securitySchemes as Record<string, JsonObject>
  const importedTypes: string[] = []
  const rows: string[] = []
  for (const { id, definition } of operacionesOf(contract)) {
    const type = capitalize(id)
    importedTypes.push(`${type}Data`, `${type}Responses`, `${type}Errors`)
    const [security] = (definition.security ?? contract.security ?? []) as JsonObject[]
    const scheme = Object.keys(security ?? {}).find(
      (name) => schemes[name]?.type === 'http' || schemes[name]?.in === 'cookie',
    )
    const responses = definition.responses as Record<string, JsonObject>
    const content = Object.keys((responses[200]?.content ?? {}) as JsonObject)
    const isConditional = '304' in responses && content.join() === 'application/json'
    const serverHeaders = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy', ...(isConditional ? ['ETag'] : [])]
    const ownResponses = Object.entries(responses).filter(([status]) => !isConditional || status !== '304')
    const cabeceras = ownResponses.map(([status, { headers }]) => {
      const headerEntries = Object.entries((headers ?? {}) as Record<string, JsonObject>)
      const names = headerEntries
        .filter(([name]) => !serverHeaders.includes(name))
        .map(([name, header]) => `'${name}${resolveRef(contract, header).required === false ? '?' : ''}'`)
      return `${status}: ${names.join(' | ') || 'never'}`
    })
    rows.push(
      `  ${id}: { data: ${type}Data; exitos: ${type}Responses; errores: ${type}Errors; seguridad: ${scheme ? `'${scheme}'` : 'null'}; cabeceras: { ${cabeceras.join('; ')} }; enFlujo: ${definition['x-cuerpo-en-flujo'] === true}; oBytes: ${content.length > 1 && content[0] === 'application/json'} }`,
    )
  }
  return `import type { ${importedTypes.join(', ')} } from './types/index.ts'\n\nexport interface Operaciones {\n${rows.join('\n')}\n}\n`
}
