import { setImmediate as ceder } from 'node:timers/promises'
import type { FormatoDeEtiquetas } from '../../generado/contrato/tipos/index.ts'
import type { DocumentBrand } from '../../platform/brand/brand.ts'
import { barsOf, drawBars, drawQr, QUIET_ZONE_128, qrOf } from '../../platform/pdf/barcodes.ts'
import { createDocument, type PdfDocument, toBuffer } from '../../platform/pdf/document.ts'
import { createTypography } from '../../platform/pdf/text.ts'
import { type DatosDeEtiqueta, drawLabel, HOJA, type LabelCanvas } from './label.ts'

/**
 * Width of a bar module in points: four dots of a 203 dpi printer (0.5 mm). Bars fall on whole dots and are wide enough
 * for any scanner.
 */
const MODULO = (4 / 203) * 72
/**
 * Letter sheet with places for four labels, in points. The places fit sheets with four adhesive labels of 3½ × 5 in,
 * which shops sell for office printers.
 */
const CARTA = {
  ancho: 612,
  alto: 792,
  casilla: { ancho: 252, alto: 360 },
  casillas: [
    [36, 36],
    [324, 36],
    [36, 396],
    [324, 396],
  ],
  /**
   * Factor that makes a bar module ten dots of a 600 dpi printer (0.42 mm), so that bars fall on whole dots there, too.
   */
  escala: ((10 / 600) * 72) / MODULO,
} as const

/**
 * Draws labels until the signal is aborted: one per page of 10 × 15 cm, or four per letter sheet. The same data gives
 * the same bytes.
 * @throws the signal's reason if the signal is aborted
 */
export async function renderizarEtiquetas(
  marca: DocumentBrand,
  etiquetas: DatosDeEtiqueta[],
  formato: FormatoDeEtiquetas = '10x15',
  senal?: AbortSignal,
): Promise<Buffer> {
  const [primera] = etiquetas
  const enCarta = formato === 'carta'
  const { doc, bytes } = createDocument({
    titulo: etiquetas.length === 1 && primera ? `Etiqueta ${primera.guia}` : `${etiquetas.length} etiquetas`,
    autor: marca.nombre,
    asunto: enCarta ? 'Etiquetas de envío, cuatro por hoja carta' : 'Etiquetas de envío de 10 × 15 cm',
    creado_en: etiquetas.map(({ creado_en }) => creado_en).reduce((a, b) => (b > a ? b : a), ''),
    tamano: enCarta ? [CARTA.ancho, CARTA.alto] : [HOJA.ancho, HOJA.alto],
    etiquetado: false,
  })
  const lienzo = pageCanvas(doc, marca)
  for (const [i, etiqueta] of etiquetas.entries()) {
    if (enCarta) enCasilla(doc, i % CARTA.casillas.length, () => drawLabel(lienzo, etiqueta))
    else {
      doc.addPage()
      drawLabel(lienzo, etiqueta)
    }
    // Drawing a label is synchronous, so an abort is only noticed between two labels.
    await ceder()
    senal?.throwIfAborted()
  }
  if (etiquetas.length === 0) doc.addPage()
  doc.end()
  return bytes
}

/** Draws a label in a place of the letter sheet, at the sheet's scale. The first place begins a new sheet. */
function enCasilla(doc: PdfDocument, cual: number, dibujarla: () => void): void {
  const { ancho, alto, casilla, casillas, escala } = CARTA
  if (cual === 0) {
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
  const [x, y] = casillas[cual]!
  doc.save()
  doc
    .translate(x + (casilla.ancho - HOJA.ancho * escala) / 2, y + (casilla.alto - HOJA.alto * escala) / 2)
    .scale(escala)
  dibujarla()
  doc.restore()
}

/** Creates the canvas of the current page. The document contains the logo once, however many labels show it. */
function pageCanvas(doc: PdfDocument, marca: DocumentBrand): LabelCanvas {
  // Couriers read Latin script, even where a font has the letters of another one.
  const tipografia = createTypography(doc, 'latin')
  const imagen = openLogo(doc, marca)
  return {
    tipografia,
    marca: { nombre: marca.nombre, logo: marca.logo?.negro ?? null },
    fill: (x, y, ancho, alto) => void doc.rect(x, y, ancho, alto).fill('#000000'),
    clear: (x, y, ancho, alto) => void doc.rect(x, y, ancho, alto).fill('#FFFFFF'),
    logo: (x, y, width, height) => void (imagen && doc.image(imagen, x, y, { width, height })),
    backdrop() {
      const estilo = { cuerpo: 76, peso: 'fuerte', color: '#D9D9D9', espaciado: 2 } as const
      const ancho = tipografia.medir('PRUEBA', estilo)
      doc.save().rotate(-50, { origin: [HOJA.ancho / 2, HOJA.alto / 2 + 20] })
      tipografia.escribir(['PRUEBA'], (HOJA.ancho - ancho) / 2, HOJA.alto / 2 - 30, estilo)
      doc.restore()
    },
    bars(texto) {
      const barras = barsOf(texto)
      if (!barras) return undefined
      const modulos = barras.reduce((suma, ancho) => suma + ancho, 0)
      const modulo = Math.min(MODULO, HOJA.ancho / (modulos + 2 * QUIET_ZONE_128))
      return (y, alto) => drawBars(doc, barras, (HOJA.ancho - modulos * modulo) / 2, y, modulo, alto)
    },
    qr(texto) {
      const qr = qrOf(texto)
      return qr && ((x, y, lado) => drawQr(doc, qr, x, y, lado))
    },
  }
}

function openLogo(doc: PdfDocument, { logo }: DocumentBrand): PDFKit.Mixins.ImageSrc | undefined {
  if (!logo) return undefined
  // The types of PDFKit lack `openImage`.
  const { openImage } = doc as unknown as { openImage(bytes: Buffer): PDFKit.Mixins.ImageSrc }
  return openImage.call(doc, toBuffer(logo.negro.png))
}
