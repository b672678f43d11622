import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { FormatoDeEtiquetas } from '../../generated/contract/types/index.ts'
import type { DocumentBrand } from '../../platform/brand/brand.ts'
import { barsOf, drawBars, drawQr, QUIET_ZONE_128, qrOf } from '../../platform/pdf/barcodes.ts'
import { createDocument, openImage, type PdfDocument } from '../../platform/pdf/document.ts'
import { lineHeight } from '../../platform/pdf/lines.ts'
import { createTypography } from '../../platform/pdf/text.ts'
import { drawLabel, type EtiquetaData, LABEL_SHEET, type LabelCanvas } from './label.ts'

/**
 * Width of a bar module in points: four dots of a 203 dpi printer (0.5 mm). Bars fall on whole dots and are wide enough
 * for any scanner.
 */
const MODULE_POINTS = (4 / 203) * 72
/**
 * Letter sheet with places for four labels, in points. The places fit sheets with four adhesive labels of 3½ × 5 in,
 * which shops sell for office printers.
 */
const LETTER_SHEET = {
  ancho: 612,
  alto: 792,
  cell: { ancho: 252, alto: 360 },
  cells: [
    [36, 36],
    [324, 36],
    [36, 396],
    [324, 396],
  ],
  /**
   * Factor that makes a bar module ten dots of a 600 dpi printer (0.42 mm), so that bars fall on whole dots there, too.
   */
  scale: ((10 / 600) * 72) / MODULE_POINTS,
} as const

/**
 * Draws labels until the signal is aborted: one per page of 10 × 15 cm, or four per letter sheet. The same data gives
 * the same bytes.
 * @throws the signal's reason if the signal is aborted
 */
export async function renderEtiquetas(
  brand: DocumentBrand,
  etiquetas: EtiquetaData[],
  format: FormatoDeEtiquetas = '10x15',
  signal?: AbortSignal,
): Promise<Buffer> {
  const [firstEtiqueta] = etiquetas
  const isLetterSheet = format === 'carta'
  const { doc, bytes } = createDocument({
    titulo:
      etiquetas.length === 1 && firstEtiqueta ? `Etiqueta ${firstEtiqueta.guia}` : `${etiquetas.length} etiquetas`,
    autor: brand.nombre,
    subject: isLetterSheet ? 'Etiquetas de envío, cuatro por hoja carta' : 'Etiquetas de envío de 10 × 15 cm',
    creado_en: etiquetas.map(({ creado_en }) => creado_en).reduce((a, b) => (b > a ? b : a), ''),
    size: isLetterSheet ? [LETTER_SHEET.ancho, LETTER_SHEET.alto] : [LABEL_SHEET.ancho, LABEL_SHEET.alto],
    tagged: false,
  })
  const canvas = pageCanvas(doc, brand)
  for (const [i, etiqueta] of etiquetas.entries()) {
    if (isLetterSheet) drawInCell(doc, i % LETTER_SHEET.cells.length, () => drawLabel(canvas, etiqueta))
    else {
      doc.addPage()
      drawLabel(canvas, etiqueta)
    }
    // Drawing a label is synchronous, so an abort is only noticed between two labels.
    await yieldTurn()
    signal?.throwIfAborted()
  }
  if (etiquetas.length === 0) doc.addPage()
  doc.end()
  return bytes
}

/** Draws a label in a place of the letter sheet, at the sheet's scale. The first place begins a new sheet. */
function drawInCell(doc: PdfDocument, cellIndex: number, drawEtiqueta: () => void): void {
  const { ancho, alto, cell, cells, scale } = LETTER_SHEET
  if (cellIndex === 0) {
    doc.addPage()
    // Lines to cut plain paper along. Adhesives leave a gap at the vertical line, and meet at the horizontal one.
    doc.lineWidth(0.4).dash(2, { space: 3 }).strokeColor('#999999')
    doc
      .moveTo(ancho / 2, 0)
      .lineTo(ancho / 2, alto)
      .moveTo(0, alto / 2)
      .lineTo(ancho, alto / 2)
      .stroke()
      .undash()
  }
  const [x, y] = cells[cellIndex]!
  doc.save()
  doc
    .translate(x + (cell.ancho - LABEL_SHEET.ancho * scale) / 2, y + (cell.alto - LABEL_SHEET.alto * scale) / 2)
    .scale(scale)
  drawEtiqueta()
  doc.restore()
}

/** Creates the canvas of the current page. The document contains the logo once, however many labels show it. */
function pageCanvas(doc: PdfDocument, brand: DocumentBrand): LabelCanvas {
  // Couriers read Latin script, even where a font has the letters of another one.
  const typography = createTypography(doc, 'latin')
  const logoImage = brand.logo && openImage(doc, brand.logo.black.png)
  return {
    typography,
    brand: { nombre: brand.nombre, logo: brand.logo?.black ?? null },
    fill: (x, y, width, height) => void doc.rect(x, y, width, height).fill('#000000'),
    logo: (x, y, width, height) => void (logoImage && doc.image(logoImage, x, y, { width, height })),
    backdrop(top, bottom) {
      const style = { size: 58, weight: 'strong', color: '#E6E6E6', letterSpacing: 2 } as const
      const width = typography.measure('PRUEBA', style)
      const center = { x: LABEL_SHEET.ancho / 2, y: (top + bottom) / 2 }
      doc.save().rotate(-20, { origin: [center.x, center.y] })
      typography.write(['PRUEBA'], center.x - width / 2, center.y - lineHeight(style) / 2, style)
      doc.restore()
    },
    bars(text) {
      const bars = barsOf(text)
      if (!bars) return undefined
      const modules = bars.reduce((sum, width) => sum + width, 0)
      const moduleWidth = Math.min(MODULE_POINTS, LABEL_SHEET.ancho / (modules + 2 * QUIET_ZONE_128))
      return (y, height) => drawBars(doc, bars, (LABEL_SHEET.ancho - modules * moduleWidth) / 2, y, moduleWidth, height)
    },
    qr(text) {
      const qr = qrOf(text)
      return qr && ((x, y, side) => drawQr(doc, qr, x, y, side))
    },
  }
}
