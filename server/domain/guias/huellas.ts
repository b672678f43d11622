import type { Falla } from '../../generado/contrato/tipos/index.ts'
import { digest, type Secrets, type SubKey } from '../../platform/secrets.ts'
import { DIGERIDOS } from './campos.ts'

// Digests of a request, by which a repeated creation is recognised. The stored text is the id of the sub-key, followed
// by `field:digest` for each field that has a value. An absent field has no digest, so that a field which the contract
// gets later does not turn older requests into conflicts.

type Digeridos = Readonly<Record<string, unknown>>

/** Returns the value without absent members at any depth; undefined if nothing is left. */
function presente(valor: unknown): unknown {
  if (valor === null) return undefined
  if (typeof valor !== 'object' || Array.isArray(valor)) return valor
  const miembros = Object.entries(valor)
    .map(([nombre, miembro]) => [nombre, presente(miembro)] as const)
    .filter(([, miembro]) => miembro !== undefined)
    .sort(([uno], [otro]) => (uno < otro ? -1 : 1))
  return miembros.length > 0 ? Object.fromEntries(miembros) : undefined
}

const digerir = (campo: string, valor: unknown, subclave: SubKey) =>
  digest(subclave, `${campo}\n${JSON.stringify(valor)}`)

/** Returns the digests of the fields that have a value, by field. */
function porCampo(datos: Digeridos, campos: readonly string[], subclave: SubKey): [campo: string, digest: string][] {
  const digests: [string, string][] = []
  for (const campo of campos) {
    const valor = presente(datos[campo])
    if (valor !== undefined) digests.push([campo, digerir(campo, valor, subclave)])
  }
  return digests
}

/**
 * Returns the stored digests of a request as first accepted. A later correction, confirmation or erasure therefore never
 * turns a repeated creation into a conflict.
 * @param campos fields that the digests contain
 */
export function huellasDe(datos: Digeridos, secretos: Secrets, campos: readonly string[] = DIGERIDOS): string {
  const subclave = secretos.presente('huellas')
  const digests = porCampo(datos, campos, subclave).map(([campo, huella]) => `${campo}:${huella}`)
  return [subclave.kid, ...digests].join(' ')
}

/**
 * Returns the fields in which a repeated request differs from the first request; an empty list means a replay.
 * @param primera digests of the first request
 * @param campos fields that the digests contain
 */
export function diferencias(
  primera: string | null,
  datos: Digeridos,
  secretos: Secrets,
  campos: readonly string[] = DIGERIDOS,
): Falla[] {
  const [kid = '', ...partes] = primera?.split(' ') ?? []
  const primeras = new Map(partes.map((parte) => parte.split(':') as [string, string]))
  const subclave = secretos.de('huellas', kid)
  // Without the sub-key the fields cannot be compared. Every field of the first request counts as different, because a
  // conflict neither creates nor hides a shipment.
  const segundas = new Map(subclave && porCampo(datos, campos, subclave))
  return campos
    .filter((campo) => primeras.get(campo) !== segundas.get(campo))
    .map((campo) => ({
      campo: `/${campo}`,
      codigo: 'difiere',
      mensaje: 'es distinto del que se envió al crear la guía',
    }))
}
