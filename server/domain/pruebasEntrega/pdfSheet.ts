import { type Canvas, TONES } from '../../platform/pdf/canvas.ts'
import type { TextStyle } from '../../platform/pdf/lines.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { PruebaData } from './pdfContent.ts'

/** Page size in points (US Letter), with the side margin and the height of the footer. */
export const PDF_SHEET = { ancho: 612, alto: 792, margin: 46, footer: 40 } as const
/** Left edge of the content, in points. */
export const X = PDF_SHEET.margin
/** Width of the content, in points. */
export const CONTENT_WIDTH = PDF_SHEET.ancho - 2 * PDF_SHEET.margin
/** Lowest vertical position that the content may reach, in points; the footer is below it. */
export const CONTENT_BOTTOM = PDF_SHEET.alto - PDF_SHEET.footer - 14

/** Style of small labels. */
export const LABEL_STYLE: TextStyle = { size: 6.8, weight: 'strong', color: TONES.grey, letterSpacing: 0.6 }
export const TITLE_STYLE: TextStyle = { size: 10.5, weight: 'strong', color: TONES.ink }
export const TEXT_STYLE: TextStyle = { size: 9, color: TONES.ink }
/** Style of notes and captions. */
export const SMALL_STYLE: TextStyle = { size: 7.6, color: TONES.grey }

/** Canvas, data and time formatter with which every part of the document is drawn. */
export interface PdfPage {
  canvas: Canvas
  datos: PruebaData
  clock: Clock
}

/** Text shown in place of unknown values. */
export const NO_DATA = '—'

/** Returns a point as people read it; undefined if unknown. */
export const coordinates = ({ lat, lng }: { lat: number | null; lng: number | null }): string | undefined =>
  lat === null || lng === null ? undefined : `${lat.toFixed(5)}, ${lng.toFixed(5)}`
