import type { Falla } from '../../generated/contract/types/index.ts'
import { digest, type Secrets, type SubKey } from '../../platform/secrets.ts'
import { DIGESTED_COLUMNS } from '../records/guiaFields.ts'

// Digests of a request, by which a repeated creation is recognised. The stored text is the id of the sub-key, followed
// by `field:digest` for each field that has a value. An absent field has no digest, so that a field which the contract
// gets later does not turn older requests into conflicts.

type DigestedFields = Readonly<Record<string, unknown>>

/** Returns the value without absent members at any depth; undefined if nothing is left. */
function withoutAbsent(valor: unknown): unknown {
  if (valor === null) return undefined
  if (typeof valor !== 'object' || Array.isArray(valor)) return valor
  const members = Object.entries(valor)
    .map(([nombre, member]) => [nombre, withoutAbsent(member)] as const)
    .filter(([, member]) => member !== undefined)
    .sort(([first], [otro]) => (first < otro ? -1 : 1))
  return members.length > 0 ? Object.fromEntries(members) : undefined
}

const digestField = (campo: string, valor: unknown, subKey: SubKey) =>
  digest(subKey, `${campo}\n${JSON.stringify(valor)}`)

/** Returns the digests of the fields that have a value, by field. */
function digestsByField(
  datos: DigestedFields,
  campos: readonly string[],
  subKey: SubKey,
): [campo: string, digest: string][] {
  const digests: [string, string][] = []
  for (const campo of campos) {
    const valor = withoutAbsent(datos[campo])
    if (valor !== undefined) digests.push([campo, digestField(campo, valor, subKey)])
  }
  return digests
}

/**
 * Returns the stored digests of a request as first accepted. A later correction, confirmation or erasure therefore never
 * turns a repeated creation into a conflict.
 * @param campos fields that the digests contain
 */
export function digestsOf(
  datos: DigestedFields,
  secretos: Secrets,
  campos: readonly string[] = DIGESTED_COLUMNS,
): string {
  const subKey = secretos.current('huellas')
  const digests = digestsByField(datos, campos, subKey).map(([campo, huella]) => `${campo}:${huella}`)
  return [subKey.kid, ...digests].join(' ')
}

/**
 * Returns the fields in which a repeated request differs from the first request; an empty list means a replay.
 * @param firstDigests digests of the first request
 * @param campos fields that the digests contain
 */
export function findDifferences(
  firstDigests: string | null,
  datos: DigestedFields,
  secretos: Secrets,
  campos: readonly string[] = DIGESTED_COLUMNS,
): Falla[] {
  const [kid = '', ...parts] = firstDigests?.split(' ') ?? []
  const firstByField = new Map(parts.map((parte) => parte.split(':') as [string, string]))
  const subKey = secretos.de('huellas', kid)
  // Without the sub-key the fields cannot be compared. Every field of the first request counts as different, because a
  // conflict neither creates nor hides a shipment.
  const secondByField = new Map(subKey && digestsByField(datos, campos, subKey))
  return campos
    .filter((campo) => firstByField.get(campo) !== secondByField.get(campo))
    .map((campo) => ({
      campo: `/${campo}`,
      codigo: 'difiere',
      mensaje: 'es distinto del que se envió al crear la guía',
    }))
}
