/** A place on the globe, in degrees (WGS 84). */
export interface Punto {
  lat: number
  lng: number
}

const RADIO_KM = 6371.0088

/** The distance between two points along the great circle (haversine), within 0.5 % of the ellipsoid's. */
export function distanciaKm(a: Punto, b: Punto): number {
  const rad = Math.PI / 180
  const h =
    Math.sin(((b.lat - a.lat) * rad) / 2) ** 2 +
    Math.cos(a.lat * rad) * Math.cos(b.lat * rad) * Math.sin(((b.lng - a.lng) * rad) / 2) ** 2
  return 2 * RADIO_KM * Math.asin(Math.sqrt(Math.min(1, h)))
}

/** A place that may not be known. */
interface Lugar {
  lat: number | null
  lng: number | null
}

/** The metres between two places along the great circle; null where one of them isn't known. */
export function distanciaEntre(a: Lugar, b: Lugar): number | null {
  if (a.lat === null || a.lng === null || b.lat === null || b.lng === null) return null
  return Math.round(distanciaKm({ lat: a.lat, lng: a.lng }, { lat: b.lat, lng: b.lng }) * 1_000)
}
