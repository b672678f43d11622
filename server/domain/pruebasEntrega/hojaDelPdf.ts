import { type Canvas, TONES } from '../../platform/pdf/canvas.ts'
import type { TextStyle } from '../../platform/pdf/lines.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { DatosDePrueba } from './contenidoDelPdf.ts'

/** Page size in points (US Letter), with the side margin and the height of the footer. */
export const HOJA = { ancho: 612, alto: 792, margen: 46, pie: 40 } as const
/** Left edge of the content, in points. */
export const X = HOJA.margen
/** Width of the content, in points. */
export const ANCHO = HOJA.ancho - 2 * HOJA.margen
/** Lowest vertical position that the content may reach, in points; the footer is below it. */
export const FONDO = HOJA.alto - HOJA.pie - 14

/** Style of small labels. */
export const ROTULO: TextStyle = { cuerpo: 6.8, peso: 'fuerte', color: TONES.gris, espaciado: 0.6 }
/** Style of titles. */
export const TITULO: TextStyle = { cuerpo: 10.5, peso: 'fuerte', color: TONES.tinta }
/** Style of the text. */
export const TEXTO: TextStyle = { cuerpo: 9, color: TONES.tinta }
/** Style of notes and captions. */
export const MENOR: TextStyle = { cuerpo: 7.6, color: TONES.gris }

/** Canvas, data and time formatter with which every part of the document is drawn. */
export interface PaginaDelPdf {
  lienzo: Canvas
  datos: DatosDePrueba
  reloj: Clock
}

/** Text shown in place of unknown values. */
export const SIN_DATO = '—'

/** Returns a point as people read it; undefined if unknown. */
export const coordenadas = ({ lat, lng }: { lat: number | null; lng: number | null }): string | undefined =>
  lat === null || lng === null ? undefined : `${lat.toFixed(5)}, ${lng.toFixed(5)}`
