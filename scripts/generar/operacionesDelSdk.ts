import { type Objeto, operacionesDe, pideLlave, seguir } from '../documentacion/contrato.ts'
import { mayuscula } from './indiceDeOperaciones.ts'

/**
 * Tells if a body has the member that `x-repetible` names. `guias/external_ref` is the `external_ref` of each entry of
 * `guias`.
 */
function hayMiembro(contrato: Objeto, esquema: Objeto, [miembro, ...resto]: string[]): boolean {
  if (miembro === undefined) return true
  const partes = [esquema, ...((esquema.allOf ?? []) as Objeto[])].map((parte) => seguir(contrato, parte))
  return partes.some((parte) => {
    const suyo = seguir(contrato, ((parte.properties ?? {}) as Objeto)[miembro])
    return Object.keys(suyo).length > 0 && hayMiembro(contrato, seguir(contrato, suyo.items ?? suyo), resto)
  })
}

function repetible(contrato: Objeto, id: string, definicion: Objeto): boolean | string {
  const dicho = definicion['x-repetible']
  if (typeof dicho === 'boolean') return dicho
  const tipos = (definicion.requestBody as Objeto | undefined)?.content as Record<string, Objeto> | undefined
  const cuerpo = seguir(contrato, tipos?.['application/json']?.schema)
  if (typeof dicho === 'string' && hayMiembro(contrato, cuerpo, dicho.split('/'))) return dicho
  throw new Error(`${id}: x-repetible must be true, false, or a member of its body, and is ${JSON.stringify(dicho)}`)
}

/**
 * Returns the source of the SDK's operations: their types by name, and a table of method, path and `x-repetible`.
 * @throws if a path is not below `/api/v1`, or `x-repetible` is invalid
 */
export function operacionesDelSdk(contrato: Objeto): string {
  const operaciones = operacionesDe(contrato).filter(({ definicion }) => pideLlave(contrato, definicion))
  const tipos = operaciones.flatMap(({ id }) => [`${mayuscula(id)}Data`, `${mayuscula(id)}Response`])
  const filas = operaciones.map(({ id, metodo, ruta, definicion }) => {
    if (!ruta.startsWith('/api/v1/')) throw new Error(`${id}: ${ruta} isn't below /api/v1`)
    const dicho = repetible(contrato, id, definicion)
    const fila = [metodo.toUpperCase(), ruta.slice('/api/v1'.length), ...(dicho === false ? [] : [dicho])]
    return `  ${id}: '${fila.join(' ')}',`
  })
  return `import type { ${tipos.join(', ')} } from './types.gen.js'

/** What each operation takes, and what it answers when all is well. */
export interface Operaciones {
${operaciones.map(({ id }) => `  ${id}: { datos: ${mayuscula(id)}Data; salida: ${mayuscula(id)}Response }`).join('\n')}
}

/**
 * Method, path below \`/api/v1\` and, but for what may not be repeated, \`x-repetible\` of each operation. As one text it
 * weighs less than as a tuple.
 */
export const OPERACIONES: Readonly<Record<keyof Operaciones, string>> = {
${filas.join('\n')}
}
`
}
