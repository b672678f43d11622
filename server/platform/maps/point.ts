/** Point on the globe, in degrees (WGS 84). */
export interface Point {
  lat: number
  lng: number
}

const RADIO_KM = 6371.0088

/**
 * Great-circle distance between two points in kilometres (haversine). It differs by at most 0.5 % from the distance on
 * the ellipsoid.
 */
export function distanceKm(a: Point, b: Point): number {
  const rad = Math.PI / 180
  const h =
    Math.sin(((b.lat - a.lat) * rad) / 2) ** 2 +
    Math.cos(a.lat * rad) * Math.cos(b.lat * rad) * Math.sin(((b.lng - a.lng) * rad) / 2) ** 2
  return 2 * RADIO_KM * Math.asin(Math.sqrt(Math.min(1, h)))
}

/** Place whose coordinates may be unknown. */
interface Place {
  lat: number | null
  lng: number | null
}

/** Great-circle distance between two places in whole metres; null if the coordinates of either place are unknown. */
export function distanceBetween(a: Place, b: Place): number | null {
  if (a.lat === null || a.lng === null || b.lat === null || b.lng === null) return null
  return Math.round(distanceKm({ lat: a.lat, lng: a.lng }, { lat: b.lat, lng: b.lng }) * 1_000)
}
