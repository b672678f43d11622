import type { OrigenDeUbicacion } from '../../generated/contract/types/index.ts'
import { MapLinkError } from '../../platform/maps/links.ts'
import { readLinkedPlace } from '../../platform/maps/plusCodes.ts'

/** Proposed location of a guide. */
export interface PlaceProposal {
  /**
   * Link that names the location; the coordinates of a short link come later. Without link and coordinates,
   * `referencia` describes the location.
   */
  enlace: string | null
  lat: number | null
  lng: number | null
  precision_m: number | null
  referencia: string | null
  origen: NonNullable<OrigenDeUbicacion>
}

/** Location that a recipient proposes for the delivery. */
export interface RecipientPlace {
  lat?: number
  lng?: number
  precision_m?: number
  enlace?: string
  referencia?: string
  /** True if the person confirmed that the location is right although it is far away. */
  acceptsDistance: boolean
  /**
   * True if the recipient explicitly changes a confirmed location. Otherwise the confirmed location stays, because the
   * first answer may arrive twice.
   */
  cambiar: boolean
  method: 'gps' | 'mapa' | 'enlace' | 'descripcion'
  /** True if the recipient replaces the confirmed point or link with a description. */
  removesPoint?: boolean
}

/** Fault of a proposed location, in words for the recipient. */
export interface PlaceFault {
  motivo: 'sin_lugar' | 'enlace_invalido' | 'coordenadas_invalidas' | 'referencia_larga'
  mensaje: string
}

const MAX_REFERENCE = 200

const REFERENCE_TOO_LONG: PlaceFault = {
  motivo: 'referencia_larga',
  mensaje: `La referencia pasa de ${MAX_REFERENCE} letras: escríbala más corta.`,
}

const normalizeReference = (referencia: string | undefined) => referencia?.trim().replaceAll(/\s+/g, ' ') || null
const isTooLong = (referencia: string | null) => referencia !== null && referencia.length > MAX_REFERENCE

/** Returns the same location with another description, or the fault of the description. */
export function proposeDescription(place: Omit<PlaceProposal, 'origen'>, text: string): PlaceProposal | PlaceFault {
  const referencia = normalizeReference(text)
  if (isTooLong(referencia)) return REFERENCE_TOO_LONG
  // Without point and link, the description is all that is known of a location.
  if (referencia === null && place.lat === null && place.enlace === null)
    return { motivo: 'sin_lugar', mensaje: 'Falta el lugar: descríbalo con palabras.' }
  return { ...place, referencia, origen: 'destinatario' }
}

/** Converts the recipient's answer to a proposed location, or returns its fault. */
export function proposeUbicacion(place: RecipientPlace): PlaceProposal | PlaceFault {
  const fault = (motivo: PlaceFault['motivo'], mensaje: string): PlaceFault => ({ motivo, mensaje })
  const referencia = normalizeReference(place.referencia)
  if (isTooLong(referencia)) return REFERENCE_TOO_LONG
  const commonFields = { precision_m: place.precision_m ?? null, referencia, origen: 'destinatario' as const }
  if (place.method === 'descripcion')
    return referencia
      ? { enlace: null, lat: null, lng: null, ...commonFields }
      : fault('sin_lugar', 'Falta el lugar: descríbalo con palabras.')
  if (place.lat !== undefined && place.lng !== undefined) {
    const vale = Math.abs(place.lat) <= 90 && Math.abs(place.lng) <= 180
    return vale
      ? { enlace: null, lat: place.lat, lng: place.lng, ...commonFields }
      : fault('coordenadas_invalidas', 'Ese lugar no está en el mapa: márquelo de nuevo.')
  }
  if (!place.enlace)
    return fault('sin_lugar', 'Falta el lugar: use su ubicación, márquelo en el mapa o pegue un enlace.')
  try {
    const enlace = place.enlace.trim()
    const linkedPlace = readLinkedPlace(enlace)
    const { lat, lng } = linkedPlace.tipo === 'coordenadas' ? linkedPlace.coordinates : { lat: null, lng: null }
    return { enlace, lat, lng, ...commonFields }
  } catch (error) {
    if (!(error instanceof MapLinkError)) throw error
    return fault('enlace_invalido', error.message)
  }
}
