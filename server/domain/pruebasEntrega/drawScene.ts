import { toBuffer } from '../../platform/pdf/document.ts'
import { type Cell, drawFoto } from './drawEvidence.ts'
import { CONTENT_WIDTH, coordinates, type PdfPage, SMALL_STYLE, X } from './pdfSheet.ts'

/** Minimum and maximum height of the pictures, and the height of captions and space below together, in points. */
const HEIGHT = { min: 70, max: 190, surround: 30 }
/** Minimum height of the scene, in points. */
export const MIN_SCENE_HEIGHT = HEIGHT.min + HEIGHT.surround
const GAP = 14

/**
 * Draws the first photo that can be shown and a map of the handover, side by side, so that the first page shows what
 * happened. Draws nothing without them, or without room. Returns the vertical position of the next part.
 */
export function drawScene(page: PdfPage, y: number, freeHeight: number): number {
  const { fotos, locationMap, posicion } = page.datos
  const index = fotos.findIndex(({ image }) => image)
  const showsMap = locationMap !== null && posicion !== null
  if ((index < 0 && !showsMap) || freeHeight < MIN_SCENE_HEIGHT) return y
  const alto = Math.min(freeHeight - HEIGHT.surround, HEIGHT.max)
  const ancho = index >= 0 && showsMap ? (CONTENT_WIDTH - GAP) / 2 : CONTENT_WIDTH
  const name = fotos.length === 1 ? 'Foto' : `Foto ${index + 1} de ${fotos.length}`
  if (index >= 0) drawFoto(page, fotos[index]!, name, { x: X, y, ancho, alto }, false)
  if (showsMap) drawMap(page, { x: X + CONTENT_WIDTH - ancho, y, ancho, alto })
  return y + alto + HEIGHT.surround
}

function drawMap({ canvas, datos }: PdfPage, { x, y, ancho, alto }: Cell): void {
  const { image, attribution } = datos.locationMap!
  const { doc } = canvas
  const scale = Math.max(ancho / image.ancho, alto / image.alto)
  const [width, height] = [image.ancho * scale, image.alto * scale]
  const center = { x: x + ancho / 2, y: y + alto / 2 }
  canvas.figure(`Mapa: ${coordinates(datos.posicion!)}`, () => {
    doc.save().rect(x, y, ancho, alto).clip()
    doc.image(toBuffer(image.bytes), center.x - width / 2, center.y - height / 2, { width, height })
    doc.restore()
    doc.circle(center.x, center.y, 7).lineWidth(2.5).fillAndStroke(datos.brand.color, '#FFFFFF')
  })
  const caption = `Lugar de la entrega · Mapa: ${attribution}`
  canvas.paragraph(caption, x, y + alto + 2, SMALL_STYLE, { ancho, role: 'Caption' })
}
