// Finds locations that look like a typing mistake, and the location that was probably meant. Pure functions.

import { exchanged, withOtherSigns } from '../../platform/maps/exchanged.ts'
import type { Point } from '../../platform/maps/point.ts'
import { cercaDeAlguno, distanciaAlDepartamento, esDelDepartamento } from '../catalogo/catalogo.ts'

/** Codes of warnings that the location is probably not the intended one. */
const INVEROSIMILES = [
  'coordenadas_en_cero',
  'coordenadas_sin_signo',
  'coordenadas_invertidas',
  'fuera_del_departamento',
] as const

/** Reports whether a warning means that a location is implausible; `estricto` rejects such a location. */
export const esInverosimil = (codigo: string): boolean => (INVEROSIMILES as readonly string[]).includes(codigo)

/** Reason why a location is implausible, and the location that was probably meant. */
export interface Sospecha {
  codigo: (typeof INVEROSIMILES)[number]
  /** Kilometres to the nearest municipality of the department; null if the department is unknown. */
  km: number | null
  corregido: Point | null
}

/** Degrees (about one kilometre) around latitude 0, longitude 0 within which nobody lives. */
const CERO = 0.01

/**
 * Yields the corrections to try, in the order of how common the mistake is: a lost sign, then latitude and longitude
 * exchanged.
 */
function* correcciones(punto: Point): Generator<Pick<Sospecha, 'codigo'> & { corregido: Point }> {
  for (const corregido of withOtherSigns(punto)) yield { codigo: 'coordenadas_sin_signo', corregido }
  for (const corregido of exchanged(punto)) yield { codigo: 'coordenadas_invertidas', corregido }
}

/**
 * Returns why a location is implausible for a department; undefined if it is plausible. A location near latitude 0,
 * longitude 0 is always implausible. Any other location in or near the department is plausible. In an unknown
 * department, a location is only implausible if it is far from every department and a correction is near one. Such a
 * correction is also suggested if the department itself is probably wrong.
 */
export function sospechar(departamento: string, punto: Point): Sospecha | undefined {
  const dentro = esDelDepartamento(departamento, punto)
  const km = dentro === undefined ? null : distanciaAlDepartamento(departamento, punto)
  if (Math.abs(punto.lat) < CERO && Math.abs(punto.lng) < CERO) {
    return { codigo: 'coordenadas_en_cero', km, corregido: null }
  }
  const cuadra = (uno: Point) => esDelDepartamento(departamento, uno) ?? cercaDeAlguno(uno)
  if (dentro || cuadra(punto)) return undefined
  for (const correccion of correcciones(punto)) if (cuadra(correccion.corregido)) return { ...correccion, km }
  if (!cercaDeAlguno(punto))
    for (const correccion of correcciones(punto)) if (cercaDeAlguno(correccion.corregido)) return { ...correccion, km }
  return dentro === undefined ? undefined : { codigo: 'fuera_del_departamento', km, corregido: null }
}
