// Description of a point in words, for recipients who cannot see the map.
import { distanceKm, type Point } from '../../../platform/maps/point.ts'
import { enMetros } from '../precision.ts'

const RUMBOS = ['norte', 'noreste', 'este', 'sureste', 'sur', 'suroeste', 'oeste', 'noroeste']

/** Declared municipality: its name and, if known, its centre. */
export interface Zona {
  centro: Point | undefined
  nombre: string
}

/** Reads the declared municipality from the form's `data-` attributes. */
export function leerZona({ dataset }: HTMLFormElement): Zona {
  const { lat, lng, lugar = '' } = dataset
  return { centro: lat && lng ? { lat: Number(lat), lng: Number(lng) } : undefined, nombre: lugar }
}

/** Describes a point by its distance and direction from the municipality's centre; empty if the centre is unknown. */
export function situar(punto: Point, { centro, nombre }: Zona): string {
  if (!centro) return ''
  const metros = distanceKm(centro, punto) * 1_000
  if (metros < 5) return `en el centro de ${nombre}`
  const norte = punto.lat - centro.lat
  const este = (punto.lng - centro.lng) * Math.cos((centro.lat * Math.PI) / 180)
  const rumbo = RUMBOS[(Math.round(Math.atan2(este, norte) / (Math.PI / 4)) + 8) % 8]
  return `a ${enMetros(metros)} al ${rumbo} del centro de ${nombre}`
}
