// Finds locations that look like a typing mistake, and the location that was probably meant. Pure functions.

import { exchanged, withOtherSigns } from '../../platform/maps/exchanged.ts'
import type { Point } from '../../platform/maps/point.ts'
import { distanceToDepartamento, isInDepartamento, isNearAnyDepartamento } from '../catalogo/catalogo.ts'

/** Codes of warnings that the location is probably not the intended one. */
const IMPLAUSIBLE_CODES = [
  'coordenadas_en_cero',
  'coordenadas_sin_signo',
  'coordenadas_invertidas',
  'fuera_del_departamento',
] as const

/** Reports whether a warning means that a location is implausible; `estricto` rejects such a location. */
export const isImplausible = (code: string): boolean => (IMPLAUSIBLE_CODES as readonly string[]).includes(code)

/** Reason why a location is implausible, and the location that was probably meant. */
export interface Suspicion {
  codigo: (typeof IMPLAUSIBLE_CODES)[number]
  /** Kilometres to the nearest municipality of the department; null if the department is unknown. */
  km: number | null
  corrected: Point | null
}

/** Degrees (about one kilometre) around latitude 0, longitude 0 within which nobody lives. */
const ZERO = 0.01

/**
 * Yields the corrections to try, in the order of how common the mistake is: a lost sign, then latitude and longitude
 * exchanged.
 */
function* correcciones(point: Point): Generator<Pick<Suspicion, 'codigo'> & { corrected: Point }> {
  for (const corrected of withOtherSigns(point)) yield { codigo: 'coordenadas_sin_signo', corrected }
  for (const corrected of exchanged(point)) yield { codigo: 'coordenadas_invertidas', corrected }
}

/**
 * Returns why a location is implausible for a department; undefined if it is plausible. A location near latitude 0,
 * longitude 0 is always implausible. Any other location in or near the department is plausible. In an unknown
 * department, a location is only implausible if it is far from every department and a correction is near one. Such a
 * correction is also suggested if the department itself is probably wrong.
 */
export function findSuspicion(departamento: string, point: Point): Suspicion | undefined {
  const isInside = isInDepartamento(departamento, point)
  const km = isInside === undefined ? null : distanceToDepartamento(departamento, point)
  if (Math.abs(point.lat) < ZERO && Math.abs(point.lng) < ZERO) {
    return { codigo: 'coordenadas_en_cero', km, corrected: null }
  }
  const fits = (candidate: Point) => isInDepartamento(departamento, candidate) ?? isNearAnyDepartamento(candidate)
  if (isInside || fits(point)) return undefined
  for (const correccion of correcciones(point)) if (fits(correccion.corrected)) return { ...correccion, km }
  if (!isNearAnyDepartamento(point))
    for (const correccion of correcciones(point))
      if (isNearAnyDepartamento(correccion.corrected)) return { ...correccion, km }
  return isInside === undefined ? undefined : { codigo: 'fuera_del_departamento', km, corrected: null }
}
