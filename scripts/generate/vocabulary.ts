import { isDeepStrictEqual } from 'node:util'
import { type Json, type JsonObject, schemasOf } from '../documentation/contract.ts'

const declareConstant = (name: string, value: Json) =>
  `export const ${name} = ${JSON.stringify(value, null, 2)} as const\n`

/**
 * Returns the source of the contract's vocabularies as constants: states and their machine, reasons, problems, scopes,
 * retries.
 * @throws if the enum of problem codes differs from `x-problemas`
 */
export function renderVocabulary(contract: JsonObject): string {
  const schemas = schemasOf(contract)
  const membersOf = (schemaName: string, extension: string) => schemas[schemaName]?.[extension] as Json
  const problemas = membersOf('CodigoDeProblema', 'x-problemas') as JsonObject
  if (
    !isDeepStrictEqual(Object.keys(problemas).sort(), [...(membersOf('CodigoDeProblema', 'enum') as string[])].sort())
  ) {
    throw new Error('CodigoDeProblema: enum and x-problemas differ')
  }
  const motivos = Object.entries(membersOf('Estado', 'x-motivos') as Record<string, JsonObject>)
  return [
    declareConstant('STATE_MACHINE', membersOf('Estado', 'x-transiciones')),
    declareConstant('LOCATION_STATE_MACHINE', membersOf('EstadoDeUbicacion', 'x-transiciones')),
    declareConstant('MOTIVOS', membersOf('Estado', 'x-motivos')),
    declareConstant(
      'NOMBRES_DE_MOTIVOS',
      Object.fromEntries(motivos.map(([estado, estadoReasons]) => [estado, Object.keys(estadoReasons)])),
    ),
    declareConstant('TIPOS_DE_EVENTO', membersOf('TipoDeEvento', 'enum')),
    declareConstant('DESCRIPCIONES_DE_ESTADO', membersOf('Estado', 'x-descripciones')),
    declareConstant('DESCRIPCIONES_DE_MOTIVO', membersOf('Motivo', 'x-descripciones')),
    declareConstant('DESCRIPCIONES_DE_EVENTO', membersOf('TipoDeEvento', 'x-descripciones')),
    declareConstant('TIPOS_INTERNOS', membersOf('TipoDeEvento', 'x-internos')),
    declareConstant('DESCRIPCIONES_DE_SIN_FIRMA', membersOf('MotivoSinFirma', 'x-descripciones')),
    declareConstant('DESCRIPCIONES_DE_FALTA', membersOf('EvidenciaQueFalta', 'x-descripciones')),
    declareConstant('ALCANCES', membersOf('Alcance', 'enum')),
    declareConstant('ALCANCES_DE_OPERACION', membersOf('AlcanceDeOperacion', 'enum')),
    declareConstant('PROBLEMAS', problemas),
    declareConstant('REINTENTOS', membersOf('EstadoDeAvisoDeWebhook', 'x-reintentos')),
    declareConstant('NOMBRES_DE_OPERACIONES', auditedOperations(contract)),
  ].join('\n')
}

/** Returns the summaries of the operations that the audit record names, by the operation. */
function auditedOperations({ paths }: JsonObject): JsonObject {
  const operations = Object.values(paths as JsonObject).flatMap((path) => Object.values(path as JsonObject))
  return Object.fromEntries(
    (operations as JsonObject[])
      .filter(({ 'x-bitacora': record }) => ['cambio', 'consulta', 'ajena'].includes(record as string))
      .map(({ operationId, summary }) => [operationId, summary]),
  ) as JsonObject
}
