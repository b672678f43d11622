// Which places look like a slip, and what was perhaps meant. Pure.
import { cercaDeAlguno, distanciaAlDepartamento, esDelDepartamento } from '../catalogo/catalogo.ts'
import type { Punto } from '../mapas/punto.ts'

/** What can't well be the place that was meant. */
const INVEROSIMILES = [
  'coordenadas_en_cero',
  'coordenadas_sin_signo',
  'coordenadas_invertidas',
  'fuera_del_departamento',
] as const

/** Whether a warning says that a place is implausible, which is what `estricto` refuses. */
export const esInverosimil = (codigo: string): boolean => (INVEROSIMILES as readonly string[]).includes(codigo)

/** Why a place is implausible, and the one that was perhaps meant. */
export interface Sospecha {
  codigo: (typeof INVEROSIMILES)[number]
  /** How far it is from the nearest municipality of the department; null if that isn't known. */
  km: number | null
  corregido: Punto | null
}

/** About a kilometre: nobody lives as near to where the equator meets the meridian of Greenwich. */
const CERO = 0.01

const SIGNOS = [
  [1, -1],
  [-1, 1],
  [-1, -1],
] as const

/** The slips that are looked for, in the order in which they are common: a lost sign, and the two in each other's place. */
function* correcciones({ lat, lng }: Punto): Generator<Pick<Sospecha, 'codigo'> & { corregido: Punto }> {
  for (const [deLat, deLng] of SIGNOS) {
    yield { codigo: 'coordenadas_sin_signo', corregido: { lat: lat * deLat, lng: lng * deLng } }
  }
  for (const [deLat, deLng] of [[1, 1], ...SIGNOS] as const) {
    const corregido = { lat: lng * deLat, lng: lat * deLng }
    if (Math.abs(corregido.lat) <= 90) yield { codigo: 'coordenadas_invertidas', corregido }
  }
}

/**
 * Why a place is implausible for a department: what lies in it or near it never is, and of a department that nobody knows
 * only what a correction would bring near any other.
 */
export function sospechar(departamento: string, punto: Punto): Sospecha | undefined {
  const dentro = esDelDepartamento(departamento, punto)
  const km = dentro === undefined ? null : distanciaAlDepartamento(departamento, punto)
  if (Math.abs(punto.lat) < CERO && Math.abs(punto.lng) < CERO) {
    return { codigo: 'coordenadas_en_cero', km, corregido: null }
  }
  const cuadra = (uno: Punto) => esDelDepartamento(departamento, uno) ?? cercaDeAlguno(uno)
  if (dentro || cuadra(punto)) return undefined
  for (const correccion of correcciones(punto)) if (cuadra(correccion.corregido)) return { ...correccion, km }
  return dentro === undefined ? undefined : { codigo: 'fuera_del_departamento', km, corregido: null }
}
