import type { OrigenDeUbicacion } from '../../generado/contrato/tipos/index.ts'
import { MapLinkError } from '../../platform/maps/links.ts'
import { readLinkedPlace } from '../../platform/maps/plusCodes.ts'

/** Proposed location of a guide. */
export interface Propuesta {
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
export interface LugarPropuesto {
  lat?: number
  lng?: number
  precision_m?: number
  enlace?: string
  referencia?: string
  /** True if the person confirmed that the location is right although it is far away. */
  seguro: boolean
  /**
   * True if the recipient explicitly changes a confirmed location. Otherwise the confirmed location stays, because the
   * first answer may arrive twice.
   */
  cambiar: boolean
  metodo: 'gps' | 'mapa' | 'enlace' | 'descripcion'
  /** True if the recipient replaces the confirmed point or link with a description. */
  sin_punto?: boolean
}

/** Fault of a proposed location, in words for the recipient. */
export interface FallaDeLugar {
  motivo: 'sin_lugar' | 'enlace_invalido' | 'coordenadas_invalidas' | 'referencia_larga'
  mensaje: string
}

const REFERENCIA_MAXIMA = 200

const REFERENCIA_LARGA: FallaDeLugar = {
  motivo: 'referencia_larga',
  mensaje: `La referencia pasa de ${REFERENCIA_MAXIMA} letras: escríbala más corta.`,
}

const limpiar = (referencia: string | undefined) => referencia?.trim().replaceAll(/\s+/g, ' ') || null
const esLarga = (referencia: string | null) => referencia !== null && referencia.length > REFERENCIA_MAXIMA

/** Returns the same location with another description, or the fault of the description. */
export function proponerPalabras(lugar: Omit<Propuesta, 'origen'>, texto: string): Propuesta | FallaDeLugar {
  const referencia = limpiar(texto)
  if (esLarga(referencia)) return REFERENCIA_LARGA
  // Without point and link, the description is all that is known of a location.
  if (referencia === null && lugar.lat === null && lugar.enlace === null)
    return { motivo: 'sin_lugar', mensaje: 'Falta el lugar: descríbalo con palabras.' }
  return { ...lugar, referencia, origen: 'destinatario' }
}

/** Converts the recipient's answer to a proposed location, or returns its fault. */
export function proponer(lugar: LugarPropuesto): Propuesta | FallaDeLugar {
  const falla = (motivo: FallaDeLugar['motivo'], mensaje: string): FallaDeLugar => ({ motivo, mensaje })
  const referencia = limpiar(lugar.referencia)
  if (esLarga(referencia)) return REFERENCIA_LARGA
  const comun = { precision_m: lugar.precision_m ?? null, referencia, origen: 'destinatario' as const }
  if (lugar.metodo === 'descripcion')
    return referencia
      ? { enlace: null, lat: null, lng: null, ...comun }
      : falla('sin_lugar', 'Falta el lugar: descríbalo con palabras.')
  if (lugar.lat !== undefined && lugar.lng !== undefined) {
    const vale = Math.abs(lugar.lat) <= 90 && Math.abs(lugar.lng) <= 180
    return vale
      ? { enlace: null, lat: lugar.lat, lng: lugar.lng, ...comun }
      : falla('coordenadas_invalidas', 'Ese lugar no está en el mapa: márquelo de nuevo.')
  }
  if (!lugar.enlace)
    return falla('sin_lugar', 'Falta el lugar: use su ubicación, márquelo en el mapa o pegue un enlace.')
  try {
    const enlace = lugar.enlace.trim()
    const leido = readLinkedPlace(enlace)
    const { lat, lng } = leido.tipo === 'coordenadas' ? leido.coordenadas : { lat: null, lng: null }
    return { enlace, lat, lng, ...comun }
  } catch (error) {
    if (!(error instanceof MapLinkError)) throw error
    return falla('enlace_invalido', error.message)
  }
}
