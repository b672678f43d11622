import type { Point } from './point.ts'

const SIGN_CHANGES = [
  [1, -1],
  [-1, 1],
  [-1, -1],
] as const

/** Yields a point with the other sign of its longitude, of its latitude and of both. */
export function* withOtherSigns({ lat, lng }: Point): Generator<Point> {
  for (const [latSign, lngSign] of SIGN_CHANGES) yield { lat: lat * latSign, lng: lng * lngSign }
}

/** Yields a point with latitude and longitude exchanged, first with the signs as they are. */
export function* exchanged({ lat, lng }: Point): Generator<Point> {
  const other = { lat: lng, lng: lat }
  if (Math.abs(other.lat) > 90) return
  yield other
  yield* withOtherSigns(other)
}

/**
 * Bounds around all countries of the catalogue, in degrees. `test/records/suspectPlaces.test.ts` compares them with the catalogue.
 */
const REGION = { sur: -5, north: 33, west: -119, east: -66 }

export const isInRegion = ({ lat, lng }: Point): boolean =>
  lat >= REGION.sur && lat <= REGION.north && lng >= REGION.west && lng <= REGION.east

/**
 * Returns the point of the region that a latitude out of range probably means: latitude and longitude exchanged.
 * Undefined if the exchange leads nowhere in the region, or if a coordinate is not a number.
 */
export function findExchanged({ lat, lng }: { lat?: unknown; lng?: unknown }): Point | undefined {
  if (typeof lat !== 'number' || typeof lng !== 'number') return undefined
  return exchanged({ lat, lng }).find(isInRegion)
}
