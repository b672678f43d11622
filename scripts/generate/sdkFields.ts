import { type JsonObject, schemasOf } from '../documentation/contract.ts'

/** Members of a new guide that no column of a sheet holds: the pickup has columns of its own, the other is no datum. */
const NO_COLUMN: readonly string[] = ['recogida', 'estricto']

/**
 * Returns the source of the names of a guide's members, for sheets and the command line. Members of the pickup are
 * columns `recogida_…`.
 * @throws if the contract lacks one of the schemas
 */
export function renderSdkFields(bundle: JsonObject): string {
  const schemas = schemasOf(bundle)
  const membersOf = (schema: string) => {
    const members = schemas[schema]?.properties as Record<string, JsonObject> | undefined
    if (!members) throw new Error(`the contract has no schema ${schema} with properties`)
    return members
  }
  const asColumn = (name: string) => `recogida_${name}`
  const isClearable = ([, { type }]: [string, JsonObject]) => Array.isArray(type) && type.includes('null')
  const clearable = (schema: string) =>
    Object.entries(membersOf(schema))
      .filter(isClearable)
      .map(([name]) => name)
  const guiaFields = Object.keys(membersOf('GuiaParaCrear')).filter((name) => !NO_COLUMN.includes(name))
  const recogidaFields = Object.keys(membersOf('Recogida')).map(asColumn)
  const inBody = (schema: string) => guiaFields.filter((name) => name in membersOf(schema))
  const lists = {
    GUIA_FIELDS: guiaFields,
    RECOGIDA_FIELDS: recogidaFields,
    CORRECTION_FIELDS: [...inBody('CorreccionDeGuia'), ...recogidaFields],
    CLEARABLE_FIELDS: [...clearable('CorreccionDeGuia'), ...clearable('CorreccionDeRecogida').map(asColumn)],
    RETRY_FIELDS: inBody('ReintentoDeGuia'),
    SHOWN_MEMBERS: Object.keys(membersOf('GuiaDeAviso')),
  }
  return Object.entries(lists)
    .map(([name, fields]) => `export const ${name} = ${JSON.stringify(fields, null, 2)} as const\n`)
    .join('\n')
}
