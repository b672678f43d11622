import { escapeToken } from '../../platform/jsonPointer.ts'
import type { OpenApiDocument, Operation } from './contract.ts'

// This module prepares the contract's schemas for three compilers. They are the generator of the validators, the
// explainer of faults and express-openapi-validator.

type Json = null | boolean | number | string | Json[] | { [clave: string]: Json }
type Objeto = { [clave: string]: Json }

/** Returns a deep copy. `cambiar` may replace the members of each object, from the outside in. */
function copiar(nodo: Json, cambiar: (objeto: Objeto) => Objeto): Json {
  if (Array.isArray(nodo)) return nodo.map((elemento) => copiar(elemento, cambiar))
  if (nodo === null || typeof nodo !== 'object') return nodo
  return Object.fromEntries(Object.entries(cambiar(nodo)).map(([clave, valor]) => [clave, copiar(valor, cambiar)]))
}

/**
 * Reduces the schema of an envelope (`x-sobre`) to its required members and the length of its lists. The operation
 * checks each item itself, because an invalid item must not fail the others.
 */
function sobre({ additionalProperties: _, properties, ...demas }: Objeto): Objeto {
  const exigidos = (demas.required as string[]).map((miembro) => {
    const lista = (properties as Objeto)[miembro] as Objeto
    return [miembro, { ...lista, items: {} }]
  })
  return { ...demas, properties: Object.fromEntries(exigidos) }
}

/** Returns the contract with which requests are validated: schemas of envelopes (`x-sobre`) are reduced. */
export const forInput = (documento: OpenApiDocument) =>
  copiar(documento as unknown as Json, (objeto) =>
    objeto['x-sobre'] === true ? sobre(objeto) : objeto,
  ) as unknown as OpenApiDocument

const SIN_EFECTO = new Set(['description', 'summary', 'title', 'tags', 'examples', 'example', 'headers'])

/**
 * Returns a copy of a part of the contract without texts, answers and extensions, which decide about no request.
 * @param palabras extensions that are keywords and stay
 */
export function prune<T>(parte: T, palabras: readonly string[] = []): T {
  const propiedades = new Set<unknown>()
  const sirve = (clave: string) => !SIN_EFECTO.has(clave) && (!clave.startsWith('x-') || palabras.includes(clave))
  return copiar(parte as Json, (objeto) => {
    if (objeto.properties) propiedades.add(objeto.properties)
    // The keys of a `properties` object are names of properties, not keywords.
    if (propiedades.has(objeto)) return objeto
    return Object.fromEntries(
      Object.entries(objeto)
        .filter(([clave]) => sirve(clave))
        .map(([clave, valor]) => [clave, clave === 'responses' ? {} : valor]),
    )
  }) as T
}

/**
 * Returns a contract for express-openapi-validator with only the parameters of these operations, references resolved.
 * The library compiles its whole input for each operation, so other parts would only cost start-up time.
 */
export function withParameters(operaciones: readonly Operation[]) {
  const paths: Record<string, Record<string, object>> = {}
  for (const { id, ruta, metodo, parametros } of operaciones) {
    paths[ruta] ??= {}
    paths[ruta][metodo] = { operationId: id, parameters: prune(parametros).map(sinAdicionales), responses: {} }
  }
  return { openapi: '3.1.0', info: { title: 'parameters', version: '1' }, paths }
}

/**
 * Returns a parameter whose object has `patternProperties` for any key, in place of `additionalProperties`. If an object
 * has `additionalProperties`, express-openapi-validator accepts every unknown parameter of the operation.
 */
function sinAdicionales(parametro: Operation['parametros'][number]) {
  const { additionalProperties, ...schema } = parametro.schema
  if (additionalProperties === undefined) return parametro
  return {
    ...parametro,
    schema: { ...schema, patternProperties: { '': additionalProperties }, additionalProperties: false },
  }
}

/**
 * Reports whether the body of an operation is JSON, which a schema validates. Raw and streamed bodies are never parsed.
 */
export const carriesJson = ({ tipos, crudo, enFlujo }: Operation) => tipos.length === 1 && !crudo && !enFlujo

/** JSON pointer to the schema of an operation's body in the contract. */
export const bodyRef = ({ ruta, metodo, tipos }: Operation) =>
  `/paths/${escapeToken(ruta)}/${metodo}/requestBody/content/${escapeToken(tipos[0]!)}/schema`

/** JSON pointer to the schema of a component in the contract. */
export const schemaRef = (esquema: string) => `/components/schemas/${esquema}`
