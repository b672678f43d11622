/** Operations for the documentation's API console: each with its parameters and the contract's own examples. */
import type { BodyExample, ConsoleOperacion, ConsoleParameter } from '../../server/pages/console/browser/operation.ts'
import {
  examplesOf,
  type Json,
  type JsonObject,
  operacionesOf,
  parametersOf,
  requiresLlave,
  resolveRef,
} from './contract.ts'
import { stripMarks, toSlug } from './guide.ts'

/**
 * Console's name for each place of a parameter, by OpenAPI's `in`. Of the headers, only `Idempotency-Key` gets a field,
 * because the browser or the console sets the others.
 */
const PARAMETER_PLACES: Readonly<Record<string, ConsoleParameter['en']>> = {
  path: 'ruta',
  query: 'consulta',
  header: 'cabecera',
}

function toConsoleParameters(contract: JsonObject, ownParameters: readonly JsonObject[]): ConsoleParameter[] {
  return ownParameters.flatMap(({ name, in: where, required, example, description, schema }) => {
    const place = PARAMETER_PLACES[String(where)]
    if (!place || (place === 'cabecera' && name !== 'Idempotency-Key')) return []
    return {
      nombre: String(name),
      en: place,
      obligatorio: required === true,
      example: String([example as Json].flat()[0] ?? ''),
      descripcion: stripMarks(String(description ?? resolveRef(contract, schema).description ?? '')),
    }
  })
}

/** Lists the operations in the order of the contract's tags. */
export const consoleOperacionesOf = (contract: JsonObject): ConsoleOperacion[] =>
  ((contract.tags ?? []) as JsonObject[]).flatMap(({ name }) =>
    operacionesOf(contract)
      .filter(({ definition }) => (definition.tags as Json[])[0] === name)
      .map((operation) => {
        const { id, method, path, definition } = operation
        return {
          id,
          group: String(name),
          method: method.toUpperCase(),
          path,
          resumen: String(definition.summary),
          lugar: `/${toSlug(String(name))}/${id.toLowerCase()}`,
          needsLlave: requiresLlave(contract, definition),
          parameters: toConsoleParameters(contract, parametersOf(contract, operation)),
          examples: examplesOf(contract, definition.requestBody).map(
            ([, { summary, value }]): BodyExample => ({
              nombre: String(summary),
              body: JSON.stringify(value, null, 2),
            }),
          ),
        }
      }),
  )
