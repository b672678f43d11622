// Where a courier goes next with a guide, and whom he asks there: that follows from its state.
import type { Estado, GuiaDeReparto } from './dominio.ts'

export type Punto = Pick<GuiaDeReparto['ubicacion'], 'lat' | 'lng' | 'maps_url'>

export interface Rumbo {
  /** To collect it, to hand it over, or to give it back. */
  hacia: 'recogida' | 'destinatario' | 'comercio'
  /** Who is there; null where nobody said. */
  nombre: string | null
  telefono: string | null
  /** The address as it is written. */
  direccion: string
  lugar: Punto
  /** How exact the place is, in metres, as far as the recipient's phone said. */
  precision_m: number | null
}

/** Where the guide is to be taken in that state; null where that isn't this courier's to know, or nowhere. */
export function rumboDe(datos: GuiaDeReparto | null, estado: Estado | null): Rumbo | null {
  if (!datos || !estado) return null
  if (estado === 'aceptado' || estado === 'en_devolucion') return haciaElComercio(datos, estado)
  const { direccion, municipio, departamento, ubicacion, destinatario, telefono } = datos
  if (datos.custodia !== 'propia' || municipio === null) return null
  const zona = municipio === departamento ? municipio : [municipio, departamento].filter(Boolean).join(', ')
  return {
    hacia: 'destinatario',
    nombre: destinatario,
    telefono,
    direccion: [direccion, zona].filter(Boolean).join(', '),
    lugar: ubicacion,
    precision_m: ubicacion.precision_m,
  }
}

function haciaElComercio({ recogida, nombre_comercio }: GuiaDeReparto, estado: Estado): Rumbo | null {
  if (!recogida) return null
  return {
    hacia: estado === 'aceptado' ? 'recogida' : 'comercio',
    nombre: nombre_comercio,
    telefono: null,
    direccion: recogida.nombre ?? 'El punto del mapa',
    lugar: recogida,
    precision_m: null,
  }
}
