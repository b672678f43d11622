// Order of the stops. The nearest stop comes first, then the stop nearest to the first one, and so on. The order
// depends only on the guides and on one stored point. It is therefore the same after a reload, and goes on after each
// stop.
import type { Point } from '../../../platform/maps/point.ts'
import type { Estado, GuiaDeReparto } from './dominio.ts'
import type { Rumbo } from './rumbo.ts'

/** Data of a row that decides about its place in the order. */
interface Parada {
  final: boolean
  estado: Estado | null
  datos: Pick<GuiaDeReparto, 'decision'> | null
  rumbo: Pick<Rumbo, 'lugar'> | null
}

/** Part of the list to which a row belongs. */
type Parte = 'hoy' | 'sin_lugar' | 'vuelve' | 'otro_dia' | 'terminada'
const PARTES: readonly Parte[] = ['hoy', 'sin_lugar', 'vuelve', 'otro_dia', 'terminada']

/**
 * Returns the part of a stop that cannot be handled now; null for any other stop. A stop goes back to the depot if its
 * delivery failed and no decision was taken yet, or if its parcel returns to the merchant.
 * @param hoy present day, such as «2026-11-25»
 */
export function aparte({ final, estado, datos }: Omit<Parada, 'rumbo'>, hoy: string) {
  if (final) return 'terminada'
  if (datos?.decision?.fecha && datos.decision.fecha > hoy) return 'otro_dia'
  const seDevuelve = datos?.decision?.accion === 'devolver' && estado !== 'en_devolucion'
  return seDevuelve || (estado === 'intento_fallido' && !datos?.decision) ? 'vuelve' : null
}

/**
 * Sorts rows in the order of the stops. The parts follow each other as in {@link PARTES}: first the stops that can be
 * handled now and have a known place, last the finished ones. Without `desde`, places count as unknown.
 * @param porDireccion rows by municipality and address, which is the order within the other parts
 * @param desde point at which the way begins: the last stop, or the place where the courier asked for the order
 * @param hoy present day, such as «2026-11-25»
 */
export function enOrdenDeParadas<Fila extends Parada>(
  porDireccion: readonly Fila[],
  desde: Point | null,
  hoy: string,
): Fila[] {
  const parteDe = (fila: Fila): Parte =>
    aparte(fila, hoy) ?? (desde && puntoDe(fila.rumbo?.lugar) ? 'hoy' : 'sin_lugar')
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
 * Sorts rows by the rule of the nearest neighbour. Distances are computed on a plane: within a day's way, the error is
 * smaller than the difference to the distance by road.
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
