import { type Objeto, operacionesDe, seguirRef } from '../documentacion/contrato.ts'

/** Returns a text with its first letter in upper case. */
export const mayuscula = (texto: string) => texto[0]?.toUpperCase() + texto.slice(1)

/**
 * Returns the source of the interface `Operaciones`, from which `Handler<'operationId'>` derives its types. For each
 * operationId it has the types, the security scheme and the headers of each response. The scheme is that of bearer keys
 * or cookies, which identify the caller; an operation verifies a signature itself. ETag headers of JSON, and the 304
 * for a client with the current version, are left out, because `server/api/http/conditional.ts` adds them. The name of
 * a header with `required: false` ends with `?`, because not every answer has it. `oBytes` is true if the answer 200 has
 * other media types beside JSON; the types of hey-api have only the first one.
 */
export function indiceDeOperaciones(contrato: Objeto): string {
  const esquemas = (contrato.components as Objeto).securitySchemes as Record<string, Objeto>
  const importados: string[] = []
  const filas: string[] = []
  for (const { id, definicion } of operacionesDe(contrato)) {
    const tipo = mayuscula(id)
    importados.push(`${tipo}Data`, `${tipo}Responses`, `${tipo}Errors`)
    const [seguridad] = (definicion.security ?? contrato.security ?? []) as Objeto[]
    const esquema = Object.keys(seguridad ?? {}).find(
      (nombre) => esquemas[nombre]?.type === 'http' || esquemas[nombre]?.in === 'cookie',
    )
    const respuestas = definicion.responses as Record<string, Objeto>
    const contenido = Object.keys((respuestas[200]?.content ?? {}) as Objeto)
    const condicional = '304' in respuestas && contenido.join() === 'application/json'
    const ajenas = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy', ...(condicional ? ['ETag'] : [])]
    const propias = Object.entries(respuestas).filter(([status]) => !condicional || status !== '304')
    const cabeceras = propias.map(([status, { headers }]) => {
      const suyas = Object.entries((headers ?? {}) as Record<string, Objeto>)
      const nombres = suyas
        .filter(([nombre]) => !ajenas.includes(nombre))
        .map(([nombre, cabecera]) => `'${nombre}${seguirRef(contrato, cabecera).required === false ? '?' : ''}'`)
      return `${status}: ${nombres.join(' | ') || 'never'}`
    })
    filas.push(
      `  ${id}: { data: ${tipo}Data; exitos: ${tipo}Responses; errores: ${tipo}Errors; seguridad: ${esquema ? `'${esquema}'` : 'null'}; cabeceras: { ${cabeceras.join('; ')} }; enFlujo: ${definicion['x-cuerpo-en-flujo'] === true}; oBytes: ${contenido.length > 1 && contenido[0] === 'application/json'} }`,
    )
  }
  return `import type { ${importados.join(', ')} } from './tipos/index.ts'\n\nexport interface Operaciones {\n${filas.join('\n')}\n}\n`
}
