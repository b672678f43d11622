import { toBuffer } from '../../platform/pdf/document.ts'
import { CONTENT_WIDTH, coordinates, type PdfPage, SMALL_STYLE, TITLE_STYLE, X } from './pdfSheet.ts'

/** Minimum and maximum height of a map, and the height of its title and caption together, in points. */
const ALTO = { min: 80, max: 180, surround: 36 }

/** Maximum height, in points, of a map with photos below it. Photos prove more than a map, so they get more space. */
export const MAX_HEIGHT_WITH_FOTOS = 140

/**
 * Draws where the parcel was handed over, if the document has a map and room for it. Returns the vertical position of
 * the next part.
 */
export function drawMap({ canvas, datos }: PdfPage, y: number, freeHeight: number): number {
  const { locationMap, posicion, brand } = datos
  if (!locationMap || !posicion || freeHeight < ALTO.min + ALTO.surround) return y
  const height = Math.min(freeHeight - ALTO.surround, ALTO.max)
  const top = canvas.paragraph('Lugar de la entrega', X, y, TITLE_STYLE, { role: 'H2' }) + 6
  const center = { x: X + CONTENT_WIDTH / 2, y: top + height / 2 }
  const { doc } = canvas
  const draw = () => {
    doc.save().roundedRect(X, top, CONTENT_WIDTH, height, 4).clip()
    const imageHeight = (CONTENT_WIDTH / locationMap.image.ancho) * locationMap.image.alto
    doc.image(toBuffer(locationMap.image.bytes), X, center.y - imageHeight / 2, {
      width: CONTENT_WIDTH,
      height: imageHeight,
    })
    doc.restore()
    doc.circle(center.x, center.y, 7).lineWidth(2.5).fillAndStroke(brand.color, '#FFFFFF')
  }
  canvas.figure(`Mapa: ${coordinates(posicion)}`, draw)
  return (
    canvas.paragraph(`Mapa: ${locationMap.attribution}`, X, top + height + 2, SMALL_STYLE, {
      ancho: CONTENT_WIDTH,
      align: 'derecha',
    }) + 10
  )
}
