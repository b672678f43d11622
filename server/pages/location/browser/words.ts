// Description of a point in words, for recipients who cannot see the map.
import { distanceKm, type Point } from '../../../platform/maps/point.ts'
import { formatMetres } from '../precision.ts'

const COMPASS_POINTS = ['norte', 'noreste', 'este', 'sureste', 'sur', 'suroeste', 'oeste', 'noroeste']

/** Declared municipality: its name and, if known, its centre. */
export interface Zona {
  centre: Point | undefined
  nombre: string
}

/** Reads the declared municipality from the form's `data-` attributes. */
export function readZone({ dataset }: HTMLFormElement): Zona {
  const { lat, lng, lugar = '' } = dataset
  return { centre: lat && lng ? { lat: Number(lat), lng: Number(lng) } : undefined, nombre: lugar }
}

/** Describes a point by its distance and direction from the municipality's centre; empty if the centre is unknown. */
function describePosition(point: Point, { centre, nombre }: Zona): string {
  if (!centre) return ''
  const metres = distanceKm(centre, point) * 1_000
  if (metres < 5) return `en el centro de ${nombre}`
  const north = point.lat - centre.lat
  const east = (point.lng - centre.lng) * Math.cos((centre.lat * Math.PI) / 180)
  const compassPoint = COMPASS_POINTS[(Math.round(Math.atan2(east, north) / (Math.PI / 4)) + 8) % 8]
  return `a ${formatMetres(metres)} al ${compassPoint} del centro de ${nombre}`
}

/** Describes the chosen point: the pin, or the phone's position with its precision in metres. */
export function describeChoice(point: Point, precision: number | undefined, zone: Zona, isSearching: boolean): string {
  const position =
    precision === undefined ? 'El pin está' : `Su ubicación, con precisión de unos ${formatMetres(precision)}, está`
  const searchingText = isSearching ? ' Seguimos buscando una mejor…' : ''
  return `${position} ${describePosition(point, zone) || 'donde la ve'}.${searchingText}`
}
