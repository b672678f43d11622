/** Functions with which the generators, and the tests of their output, read a bundled contract. */
export type Json = null | boolean | number | string | Json[] | { [clave: string]: Json }
export type Objeto = { [clave: string]: Json }

/** Operation of a contract. */
export interface OperacionDeContrato {
  id: string
  metodo: string
  /** Path as the contract writes it, such as `/api/v1/guias/{guia}`. */
  ruta: string
  definicion: Objeto
}

const METODOS = new Set(['get', 'post', 'put', 'patch', 'delete'])

/** Lists the operations of a contract, in its order. */
export const operacionesDe = (contrato: Objeto): OperacionDeContrato[] =>
  Object.entries(contrato.paths as Record<string, Objeto>).flatMap(([ruta, porMetodo]) =>
    Object.entries(porMetodo)
      .filter(([metodo]) => METODOS.has(metodo))
      .map(([metodo, valor]) => {
        const definicion = valor as Objeto
        return { id: definicion.operationId as string, metodo, ruta, definicion }
      }),
  )

/**
 * Tells if an operation requires a key. An operation without `security` has the document's; an empty list requires no
 * key.
 */
export const pideLlave = (contrato: Objeto, definicion: Objeto) =>
  ((definicion.security ?? contrato.security) as Objeto[]).length > 0

export const esquemasDe = (contrato: Objeto) => (contrato.components as Objeto).schemas as Record<string, Objeto>

/**
 * Returns an object, or the target of its `$ref`. Members beside a `$ref`, such as a description, override those of the
 * target.
 */
export function seguirRef(contrato: Objeto, valor: Json | undefined): Objeto {
  const { $ref, ...propio } = (valor ?? {}) as Objeto
  if (typeof $ref !== 'string') return (valor ?? {}) as Objeto
  const partes = $ref.slice(2).split('/')
  const destino = partes.reduce<Json>(
    (dentro, parte) => (dentro as Objeto)[parte.replaceAll('~1', '/')] ?? null,
    contrato,
  )
  return { ...seguirRef(contrato, destino), ...propio }
}

/** Returns the named examples of a body; none if the body is not JSON. */
export function ejemplosDe(contrato: Objeto, cuerpo: Json | undefined): [nombre: string, ejemplo: Objeto][] {
  const json = ((seguirRef(contrato, cuerpo).content ?? {}) as Objeto)['application/json'] as Objeto | undefined
  return Object.entries((json?.examples ?? {}) as Objeto).map(([nombre, uno]) => [nombre, seguirRef(contrato, uno)])
}

/** Returns the parameters of an operation, with references resolved. */
export const parametrosDe = (contrato: Objeto, { definicion }: OperacionDeContrato): Objeto[] =>
  ((definicion.parameters ?? []) as Json[]).map((uno) => seguirRef(contrato, uno))
