// Order of the stops. The nearest stop comes first, then the stop nearest to that one, and so on. The order depends only
// on the guides and on one stored point. It is therefore the same after a reload, and goes on after each stop.
import type { Point } from '../../../platform/maps/point.ts'
import type { GuiaDeReparto } from './dominio.ts'
import type { Rumbo } from './rumbo.ts'

/** Row of the list, as far as its place in the order depends on it. */
interface Parada {
  final: boolean
  datos: Pick<GuiaDeReparto, 'resolucion'> | null
  rumbo: Pick<Rumbo, 'lugar'> | null
}

/** Part of the list in which a row stands. */
type Parte = 'hoy' | 'sin_lugar' | 'otro_dia' | 'terminada'
const PARTES: readonly Parte[] = ['hoy', 'sin_lugar', 'otro_dia', 'terminada']

/**
 * Returns rows in the order of the stops: those of today with a known place, those without a place, those that were
 * decided for a later day, and the finished ones. Without `desde`, no place counts as known.
 * @param porDireccion rows by municipality and address, which is the order within the other parts
 * @param desde point at which the way begins: the last stop, or the place where the courier asked for the order
 * @param hoy present day, such as «2026-11-25»
 */
export function enOrdenDeParadas<Fila extends Parada>(
  porDireccion: readonly Fila[],
  desde: Point | null,
  hoy: string,
): Fila[] {
  const parteDe = ({ final, datos, rumbo }: Fila): Parte => {
    if (final) return 'terminada'
    if (datos?.resolucion?.fecha && datos.resolucion.fecha > hoy) return 'otro_dia'
    return desde && puntoDe(rumbo?.lugar) ? 'hoy' : 'sin_lugar'
  }
  return PARTES.flatMap((parte) => {
    const filas = porDireccion.filter((fila) => parteDe(fila) === parte)
    return parte === 'hoy' && desde ? porCercania(filas, desde) : filas
  })
}

/** Returns the point of a place; null without coordinates. */
export function puntoDe(lugar: { lat?: number | null; lng?: number | null } | undefined): Point | null {
  const { lat, lng } = lugar ?? {}
  return typeof lat === 'number' && typeof lng === 'number' ? { lat, lng } : null
}

/**
 * Returns rows by the rule of the nearest neighbour. Distances are compared on a plane: within a day's way the error is
 * smaller than that of a road.
 */
function porCercania<Fila extends Parada>(filas: readonly Fila[], desde: Point): Fila[] {
  const ancho = Math.cos((desde.lat * Math.PI) / 180)
  const quedan = filas.map((fila) => ({ fila, punto: puntoDe(fila.rumbo!.lugar)! }))
  const orden: Fila[] = []
  let aqui = desde
  while (quedan.length > 0) {
    let mejor = 0
    let menor = Number.POSITIVE_INFINITY
    for (const [i, { punto }] of quedan.entries()) {
      const lejos = (punto.lat - aqui.lat) ** 2 + ((punto.lng - aqui.lng) * ancho) ** 2
      if (lejos < menor) [mejor, menor] = [i, lejos]
    }
    const [{ fila, punto }] = quedan.splice(mejor, 1) as [(typeof quedan)[number]]
    orden.push(fila)
    aqui = punto
  }
  return orden
}
