import {
  type Objeto,
  type OperacionDeContrato,
  operacionesDe,
  parametrosDe,
  pideLlave,
  seguirRef,
} from '../documentacion/contrato.ts'
import { mayuscula } from './indiceDeOperaciones.ts'

/**
 * Tells if a body has the member that `x-repetible` names. `guias/external_ref` is the `external_ref` of each entry of
 * `guias`.
 */
function hayMiembro(contrato: Objeto, esquema: Objeto, [miembro, ...resto]: string[]): boolean {
  if (miembro === undefined) return true
  const partes = [esquema, ...((esquema.allOf ?? []) as Objeto[])].map((parte) => seguirRef(contrato, parte))
  return partes.some((parte) => {
    const suyo = seguirRef(contrato, ((parte.properties ?? {}) as Objeto)[miembro])
    return Object.keys(suyo).length > 0 && hayMiembro(contrato, seguirRef(contrato, suyo.items ?? suyo), resto)
  })
}

/** Reports whether an operation takes a key for its repetition. */
export const tomaClave = (contrato: Objeto, operacion: OperacionDeContrato): boolean =>
  parametrosDe(contrato, operacion).some(({ name }) => name === 'Idempotency-Key')

/**
 * Returns the `x-repetible` of an operation: true, false, `clave`, or the member of its body that makes a repetition
 * safe. Without that member, the key does.
 * @throws if it is none of these
 */
function repetible(contrato: Objeto, operacion: OperacionDeContrato): boolean | string {
  const { id, definicion } = operacion
  const dicho = definicion['x-repetible']
  if (typeof dicho === 'boolean') return dicho
  const tipos = (definicion.requestBody as Objeto | undefined)?.content as Record<string, Objeto> | undefined
  const cuerpo = seguirRef(contrato, tipos?.['application/json']?.schema)
  const vale = dicho === 'clave' || (typeof dicho === 'string' && hayMiembro(contrato, cuerpo, dicho.split('/')))
  if (vale && tomaClave(contrato, operacion)) return dicho as string
  throw new Error(
    `${id}: x-repetible must be true or false, or, with Idempotency-Key, \`clave\` or a member of its body, and is ${JSON.stringify(dicho)}`,
  )
}

/**
 * Returns the source of the SDK's operations: their types by method and path, and the `x-repetible` of operations that
 * differ from the default of their method.
 * @throws if a path is not below `/api/v1`, or `x-repetible` is invalid
 */
export function operacionesDelSdk(contrato: Objeto): string {
  const operaciones = operacionesDe(contrato)
    .filter(({ definicion }) => pideLlave(contrato, definicion))
    .map((operacion) => {
      const { id, metodo, ruta } = operacion
      if (!ruta.startsWith('/api/v1/')) throw new Error(`${id}: ${ruta} isn't below /api/v1`)
      const clave = `'${metodo.toUpperCase()} ${ruta.slice('/api/v1'.length)}'`
      const porMetodo = metodo !== 'post' && metodo !== 'patch'
      return { tipo: mayuscula(id), clave, dicho: repetible(contrato, operacion), porMetodo }
    })
  const tipos = operaciones.flatMap(({ tipo }) => [`${tipo}Data`, `${tipo}Response`])
  const filas = operaciones
    .filter(({ dicho, porMetodo }) => dicho !== porMetodo)
    .map(({ clave, dicho }) => `  ${clave}: '${dicho}',`)
  return `import type { ${tipos.join(', ')} } from './types.gen.js'

/** Request and success answer of each operation, by its method and its path below \`/api/v1\`. */
export interface Operaciones {
${operaciones.map(({ tipo, clave }) => `  ${clave}: { datos: ${tipo}Data; salida: ${tipo}Response }`).join('\n')}
}

/**
 * \`x-repetible\` of the operations that differ from the default of their method. The default is \`false\` for POST and
 * PATCH, and \`true\` for the other methods.
 */
export const REPETIBLES: { readonly [O in keyof Operaciones]?: string } = {
${filas.join('\n')}
}
`
}
