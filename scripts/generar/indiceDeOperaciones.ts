import { type Objeto, operacionesDe } from '../documentacion/contrato.ts'

export const mayuscula = (texto: string) => texto[0]?.toUpperCase() + texto.slice(1)

/**
 * operationId → its types, security scheme and the headers of each answer: what `Handler<'operationId'>` is made of. Bearer
 * keys and cookies say who calls; a signature is the operation's own business.
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
    const cabeceras = Object.entries(definicion.responses as Objeto).map(([status, respuesta]) => {
      const nombres = Object.keys(((respuesta as Objeto).headers ?? {}) as Objeto).filter((n) => n !== 'X-Request-Id')
      return `${status}: ${nombres.map((n) => `'${n}'`).join(' | ') || 'never'}`
    })
    filas.push(
      `  ${id}: { data: ${tipo}Data; exitos: ${tipo}Responses; errores: ${tipo}Errors; seguridad: ${esquema ? `'${esquema}'` : 'null'}; cabeceras: { ${cabeceras.join('; ')} }; enFlujo: ${definicion['x-cuerpo-en-flujo'] === true} }`,
    )
  }
  return `import type { ${importados.join(', ')} } from './tipos/index.ts'\n\nexport interface Operaciones {\n${filas.join('\n')}\n}\n`
}
