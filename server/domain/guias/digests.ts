import type { Falla } from '../../generated/contract/types/index.ts'
import { digest, type Secrets, type SubKey } from '../../platform/secrets.ts'
import { DIGESTED_COLUMNS } from '../records/guiaFields.ts'

// Digests of a request, by which a repeated creation is recognised. The stored text is the id of the sub-key, followed
// by `field:digest` for each field that has a value. An absent field has no digest, so that a field which the contract
// gets later does not turn older requests into conflicts.

type DigestedFields = Readonly<Record<string, unknown>>

/** Returns the value without absent members at any depth; undefined if nothing is left. */
function withoutAbsent(value: unknown): unknown {
  if (value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value)) return value
  const members = Object.entries(value)
    .map(([name, member]) => [name, withoutAbsent(member)] as const)
    .filter(([, member]) => member !== undefined)
    .sort(([first], [other]) => (first < other ? -1 : 1))
  return members.length > 0 ? Object.fromEntries(members) : undefined
}

const digestField = (field: string, value: unknown, subKey: SubKey) =>
  digest(subKey, `${field}\n${JSON.stringify(value)}`)

/** Returns the digests of the fields that have a value, by field. */
function digestsByField(
  datos: DigestedFields,
  fields: readonly string[],
  subKey: SubKey,
): [campo: string, digest: string][] {
  const digests: [string, string][] = []
  for (const field of fields) {
    const value = withoutAbsent(datos[field])
    if (value !== undefined) digests.push([field, digestField(field, value, subKey)])
  }
  return digests
}

/**
 * Returns the stored digests of a request as first accepted. A later correction, confirmation or erasure therefore never
 * turns a repeated creation into a conflict.
 * @param fields fields that the digests contain
 */
export function digestsOf(
  datos: DigestedFields,
  secrets: Secrets,
  fields: readonly string[] = DIGESTED_COLUMNS,
): string {
  const subKey = secrets.current('huellas')
  const digests = digestsByField(datos, fields, subKey).map(([field, digest]) => `${field}:${digest}`)
  return [subKey.kid, ...digests].join(' ')
}

/**
 * Returns the fields in which a repeated request differs from the first request; an empty list means a replay.
 * @param firstDigests digests of the first request
 * @param fields fields that the digests contain
 */
export function findDifferences(
  firstDigests: string | null,
  datos: DigestedFields,
  secrets: Secrets,
  fields: readonly string[] = DIGESTED_COLUMNS,
): Falla[] {
  const [kid = '', ...parts] = firstDigests?.split(' ') ?? []
  const firstByField = new Map(parts.map((part) => part.split(':') as [string, string]))
  const subKey = secrets.de('huellas', kid)
  // Without the sub-key the fields cannot be compared. Every field of the first request counts as different, because a
  // conflict neither creates nor hides a shipment.
  const secondByField = new Map(subKey && digestsByField(datos, fields, subKey))
  return fields
    .filter((field) => firstByField.get(field) !== secondByField.get(field))
    .map((field) => ({
      campo: `/${field}`,
      codigo: 'difiere',
      mensaje: 'es distinto del que se envió al crear la guía',
    }))
}
