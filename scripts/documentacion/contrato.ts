/** How the generators, and the tests of what they write, read a bundled contract. */
export type Json = null | boolean | number | string | Json[] | { [clave: string]: Json }
export type Objeto = { [clave: string]: Json }

export interface Operacion {
  id: string
  metodo: string
  /** As the contract writes it: `/api/v1/guias/{guia}`. */
  ruta: string
  definicion: Objeto
}

const METODOS = new Set(['get', 'post', 'put', 'patch', 'delete'])

export const operacionesDe = (contrato: Objeto): Operacion[] =>
  Object.entries(contrato.paths as Record<string, Objeto>).flatMap(([ruta, porMetodo]) =>
    Object.entries(porMetodo)
      .filter(([metodo]) => METODOS.has(metodo))
      .map(([metodo, valor]) => {
        const definicion = valor as Objeto
        return { id: definicion.operationId as string, metodo, ruta, definicion }
      }),
  )

/** What has no security of its own has the document's; an empty list asks for no key. */
export const pideLlave = (contrato: Objeto, definicion: Objeto) =>
  ((definicion.security ?? contrato.security) as Objeto[]).length > 0

export const esquemasDe = (contrato: Objeto) => (contrato.components as Objeto).schemas as Record<string, Objeto>

/** What a value says, or what it points at. */
export function seguir(contrato: Objeto, valor: Json | undefined): Objeto {
  const objeto = (valor ?? {}) as Objeto
  if (typeof objeto.$ref !== 'string') return objeto
  const partes = objeto.$ref.slice(2).split('/')
  return seguir(
    contrato,
    partes.reduce<Json>((dentro, parte) => (dentro as Objeto)[parte.replaceAll('~1', '/')] ?? null, contrato),
  )
}

/** The named examples of a body, by their names; none when it isn't JSON. */
export function ejemplosDe(contrato: Objeto, cuerpo: Json | undefined): [nombre: string, ejemplo: Objeto][] {
  const json = ((seguir(contrato, cuerpo).content ?? {}) as Objeto)['application/json'] as Objeto | undefined
  return Object.entries((json?.examples ?? {}) as Objeto).map(([nombre, uno]) => [nombre, seguir(contrato, uno)])
}

export const parametrosDe = (contrato: Objeto, { definicion }: Operacion): Objeto[] =>
  ((definicion.parameters ?? []) as Json[]).map((uno) => seguir(contrato, uno))
