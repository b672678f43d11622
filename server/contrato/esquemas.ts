import type { Documento, Operacion } from './contrato.ts'

// The contract's schemas, made ready for compilers: for ours when the server is generated, for those that explain and for
// express-openapi-validator in the process.

type Json = null | boolean | number | string | Json[] | { [clave: string]: Json }
type Objeto = { [clave: string]: Json }

/** A deep copy in which `cambiar` may replace each object's members, from the outside in. */
function copiar(nodo: Json, cambiar: (objeto: Objeto) => Objeto): Json {
  if (Array.isArray(nodo)) return nodo.map((elemento) => copiar(elemento, cambiar))
  if (nodo === null || typeof nodo !== 'object') return nodo
  return Object.fromEntries(Object.entries(cambiar(nodo)).map(([clave, valor]) => [clave, copiar(valor, cambiar)]))
}

/**
 * What a request must have of an envelope (`x-sobre`): the members without which it is none, and lists of the right length.
 * The operation answers for everything else, item by item, because one that is wrong must not fail the others.
 */
function sobre({ additionalProperties: _, properties, ...demas }: Objeto): Objeto {
  const exigidos = (demas.required as string[]).map((miembro) => {
    const lista = (properties as Objeto)[miembro] as Objeto
    return [miembro, { ...lista, items: {} }]
  })
  return { ...demas, properties: Object.fromEntries(exigidos) }
}

/** The contract as requests are held to it. */
export const deEntrada = (documento: Documento) =>
  copiar(documento as unknown as Json, (objeto) =>
    objeto['x-sobre'] === true ? sobre(objeto) : objeto,
  ) as unknown as Documento

const SIN_EFECTO = new Set(['description', 'summary', 'title', 'tags', 'examples', 'example', 'headers'])

/** A copy of a part of the contract without what decides about no request: texts, answers, and extensions that are no keywords. */
export function podar<T>(parte: T, palabras: readonly string[] = []): T {
  const propiedades = new Set<unknown>()
  const sirve = (clave: string) => !SIN_EFECTO.has(clave) && (!clave.startsWith('x-') || palabras.includes(clave))
  return copiar(parte as Json, (objeto) => {
    if (objeto.properties) propiedades.add(objeto.properties)
    // The names of properties are not keywords.
    if (propiedades.has(objeto)) return objeto
    return Object.fromEntries(
      Object.entries(objeto)
        .filter(([clave]) => sirve(clave))
        .map(([clave, valor]) => [clave, clave === 'responses' ? {} : valor]),
    )
  }) as T
}

/**
 * What express-openapi-validator needs of the contract: the parameters of those operations, references resolved. It compiles
 * each operation with all that it is given, so the rest would only cost start-up time.
 */
export function conParametros(operaciones: readonly Operacion[]) {
  const paths: Record<string, Record<string, object>> = {}
  for (const { id, ruta, metodo, parametros } of operaciones) {
    paths[ruta] ??= {}
    paths[ruta][metodo] = { operationId: id, parameters: podar(parametros), responses: {} }
  }
  return { openapi: '3.1.0', info: { title: 'parameters', version: '1' }, paths }
}

const puntero = (ruta: string) => ruta.replace(/~/g, '~0').replace(/\//g, '~1')

/** Whether the body of an operation is JSON, which its schema judges: bytes that nobody has parsed are nobody's to judge. */
export const llevaJson = ({ tipos, crudo, enFlujo }: Operacion) => tipos.length === 1 && !crudo && !enFlujo

/** Where the schema of an operation's body stands in the contract, as a JSON pointer. */
export const refDelCuerpo = ({ ruta, metodo, tipos }: Operacion) =>
  `/paths/${puntero(ruta)}/${metodo}/requestBody/content/${puntero(tipos[0]!)}/schema`

/** Where a component's schema stands. */
export const refDelEsquema = (esquema: string) => `/components/schemas/${esquema}`
