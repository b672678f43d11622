// A table of columns says in one place for which purposes each column of a database table is used. Lists of columns
// derive from it: see `fields.ts` of guides, endpoints and keys in `domain/`.

/**
 * Names of the columns of table `C` that have the property `P`; any name if the columns of `C` are not known to the
 * compiler.
 */
export type ColumnWith<C, P> = string extends keyof C ? string : { [N in keyof C]: C[N] extends P ? N : never }[keyof C]

/** Names of the properties that at least one column of table `C` can have. */
type PropertyOf<C> = C[keyof C] extends infer Column ? (Column extends unknown ? keyof Column : never) : never

/** Returns the names of the columns that have all these properties, in the table's order. */
export const columnsWith = <C extends Readonly<Record<string, object>>, const P extends object>(
  columns: C,
  wanted: P & Record<Exclude<keyof P, PropertyOf<C>>, never>,
) =>
  Object.entries(columns)
    .filter(([, column]) => Object.entries(wanted).every(([name, value]) => Reflect.get(column, name) === value))
    .map(([name]) => name) as ColumnWith<C, P>[]

/** Returns an object with these columns of a row. */
export const pickColumns = <T extends object, N extends keyof T>(row: T, names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<T, N>

/** Values of a row's columns, by name. */
type Values = Readonly<Record<string, unknown>>

/**
 * Compares two versions of a row.
 * @param before the old version; empty for a new row, and then the result has no `antes`
 * @param audited columns whose values may appear in the audit record
 * @returns the names of all changed columns, and the old and new values of those in `audited`
 */
export function changedColumns(
  before: Values,
  after: Values,
  audited: readonly string[],
): { campos: string[]; antes?: Values; despues: Values } {
  const campos = Object.keys(after).filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
  const auditedFields = campos.filter((field) => audited.includes(field))
  const pickAudited = (values: Values) =>
    Object.fromEntries(auditedFields.map((field) => [field, values[field] ?? null]))
  return { campos, ...(Object.keys(before).length > 0 && { antes: pickAudited(before) }), despues: pickAudited(after) }
}
