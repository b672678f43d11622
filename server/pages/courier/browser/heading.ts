// Next destination of a guide, and the person to ask for there. Both follow from the guide's state.
import type { Estado, GuiaDeReparto } from './vocabulary.ts'

export type DispatchPoint = Pick<GuiaDeReparto['ubicacion'], 'lat' | 'lng' | 'maps_url'>

/** Next destination of a guide. */
export interface Heading {
  /** Destination: where the parcel is collected, handed over, or returned. */
  target: 'recogida' | 'destinatario' | 'comercio'
  /** Name of the person or merchant at the destination; null if unknown. */
  nombre: string | null
  telefono: string | null
  /** Address as text, in two parts: `street` (way to the door) and `zona` (municipality). */
  direccion: string
  /** Part of the address that leads to the door; empty if only the municipality is known. */
  street: string
  /** Municipality and department; empty for the place of a merchant. */
  zona: string
  /** Directions; empty if none. */
  directions: readonly string[]
  lugar: DispatchPoint
  /** Precision of the place, in metres, as the recipient's phone reported it; null if unknown. */
  precision_m: number | null
}

/** Returns the next destination of a guide in a state; null if it has none, or if this courier may not know it. */
export function headingOf(datos: GuiaDeReparto | null, estado: Estado | null): Heading | null {
  if (!datos || !estado) return null
  if (estado === 'aceptado' || estado === 'en_devolucion') return headingToComercio(datos, estado)
  const { direccion, indicaciones, municipio, departamento, ubicacion, destinatario, telefono } = datos
  if (datos.custodia !== 'propia' || municipio === null) return null
  const zona = municipio === departamento ? municipio : [municipio, departamento].filter(Boolean).join(', ')
  return {
    target: 'destinatario',
    nombre: destinatario,
    telefono,
    direccion: [direccion, zona].filter(Boolean).join(', '),
    street: direccion ?? '',
    zona,
    directions: withoutRepeats(ubicacion.referencia, indicaciones),
    lugar: ubicacion,
    precision_m: ubicacion.precision_m,
  }
}

/** Returns the texts that there are, each once. */
const withoutRepeats = (...texts: readonly (string | null | undefined)[]) => [
  ...new Set(texts.filter((text): text is string => Boolean(text))),
]

function headingToComercio({ recogida, nombre_comercio }: GuiaDeReparto, estado: Estado): Heading | null {
  if (!recogida) return null
  const direccion = withoutRepeats(recogida.nombre, recogida.direccion).join(', ') || 'El punto del mapa'
  return {
    target: estado === 'aceptado' ? 'recogida' : 'comercio',
    nombre: [recogida.contacto, nombre_comercio].filter(Boolean).join(', ') || null,
    telefono: recogida.telefono ?? null,
    direccion,
    street: direccion,
    zona: '',
    directions: withoutRepeats(recogida.indicaciones),
    lugar: recogida,
    precision_m: null,
  }
}
