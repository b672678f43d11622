// Order of the stops. The nearest stop comes first, then the stop nearest to the first one, and so on. The order
// depends only on the guides and on one stored point. It is therefore the same after a reload, and goes on after each
// stop.
import type { Point } from '../../../platform/maps/point.ts'
import type { Heading } from './heading.ts'
import type { Estado, GuiaDeReparto } from './vocabulary.ts'

/** Data of a row that decides about its place in the order. */
interface Stop {
  final: boolean
  estado: Estado | null
  datos: Pick<GuiaDeReparto, 'decision'> | null
  heading: Pick<Heading, 'lugar'> | null
}

/** Part of the list to which a row belongs. */
type Section = 'hoy' | 'sin_lugar' | 'vuelve' | 'otro_dia' | 'terminada'
const PARTS: readonly Section[] = ['hoy', 'sin_lugar', 'vuelve', 'otro_dia', 'terminada']

/**
 * Returns the part of a stop that cannot be handled now; null for any other stop. A stop goes back to the depot if its
 * delivery failed and no decision was taken yet, or if its parcel returns to the merchant.
 * @param today present day, such as «2026-11-25»
 */
export function partOfStop({ final, estado, datos }: Omit<Stop, 'heading'>, today: string) {
  if (final) return 'terminada'
  if (datos?.decision?.fecha && datos.decision.fecha > today) return 'otro_dia'
  const isReturning = datos?.decision?.accion === 'devolver' && estado !== 'en_devolucion'
  return isReturning || (estado === 'intento_fallido' && !datos?.decision) ? 'vuelve' : null
}

/**
 * Sorts rows in the order of the stops. The parts follow each other as in {@link PARTS}: first the stops that can be
 * handled now and have a known place, last the finished ones. Without `from`, places count as unknown.
 * @param byAddress rows by municipality and address, which is the order within the other parts
 * @param from point at which the way begins: the last stop, or the place where the courier asked for the order
 * @param today present day, such as «2026-11-25»
 */
export function inStopOrder<Row extends Stop>(byAddress: readonly Row[], from: Point | null, today: string): Row[] {
  const sectionOf = (row: Row): Section =>
    partOfStop(row, today) ?? (from && pointOf(row.heading?.lugar) ? 'hoy' : 'sin_lugar')
  return PARTS.flatMap((part) => {
    const rows = byAddress.filter((row) => sectionOf(row) === part)
    return part === 'hoy' && from ? byNearness(rows, from) : rows
  })
}

/** Returns the point of a place; null without coordinates. */
export function pointOf(place: { lat?: number | null; lng?: number | null } | undefined): Point | null {
  const { lat, lng } = place ?? {}
  return typeof lat === 'number' && typeof lng === 'number' ? { lat, lng } : null
}

/**
 * Sorts rows by the rule of the nearest neighbour. Distances are computed on a plane: within a day's way, the error is
 * smaller than the difference to the distance by road.
 */
function byNearness<Row extends Stop>(rows: readonly Row[], from: Point): Row[] {
  const width = Math.cos((from.lat * Math.PI) / 180)
  const remaining = rows.map((row) => ({ row, point: pointOf(row.heading!.lugar)! }))
  const ordered: Row[] = []
  let currentPoint = from
  while (remaining.length > 0) {
    let bestIndex = 0
    let shortest = Number.POSITIVE_INFINITY
    for (const [i, { point }] of remaining.entries()) {
      const squaredDistance = (point.lat - currentPoint.lat) ** 2 + ((point.lng - currentPoint.lng) * width) ** 2
      if (squaredDistance < shortest) [bestIndex, shortest] = [i, squaredDistance]
    }
    const [{ row, point }] = remaining.splice(bestIndex, 1) as [(typeof remaining)[number]]
    ordered.push(row)
    currentPoint = point
  }
  return ordered
}
