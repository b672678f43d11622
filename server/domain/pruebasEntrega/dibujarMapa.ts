import { toBuffer } from '../../platform/pdf/document.ts'
import { ANCHO, coordenadas, MENOR, type PaginaDelPdf, TITULO, X } from './hojaDelPdf.ts'

/** Minimum and maximum height of a map, and the height of its title and caption together, in points. */
const ALTO = { minimo: 80, maximo: 180, alrededor: 36 }

/** Maximum height, in points, of a map with photos below it. Photos prove more than a map, so they get more space. */
export const LIBRE_CON_FOTOS = 140

/**
 * Draws where the parcel was handed over, if the document has a map and room for it. Returns the vertical position of
 * the next part.
 */
export function mapa({ lienzo, datos }: PaginaDelPdf, y: number, libre: number): number {
  const { mapa, posicion, marca } = datos
  if (!mapa || !posicion || libre < ALTO.minimo + ALTO.alrededor) return y
  const alto = Math.min(libre - ALTO.alrededor, ALTO.maximo)
  const arriba = lienzo.parrafo('Lugar de la entrega', X, y, TITULO, { papel: 'H2' }) + 6
  const centro = { x: X + ANCHO / 2, y: arriba + alto / 2 }
  const { doc } = lienzo
  const dibujar = () => {
    doc.save().roundedRect(X, arriba, ANCHO, alto, 4).clip()
    const medida = (ANCHO / mapa.imagen.ancho) * mapa.imagen.alto
    doc.image(toBuffer(mapa.imagen.bytes), X, centro.y - medida / 2, { width: ANCHO, height: medida })
    doc.restore()
    doc.circle(centro.x, centro.y, 7).lineWidth(2.5).fillAndStroke(marca.color, '#FFFFFF')
  }
  lienzo.figura(`Mapa: ${coordenadas(posicion)}`, dibujar)
  return (
    lienzo.parrafo(`Mapa: ${mapa.atribucion}`, X, arriba + alto + 2, MENOR, { ancho: ANCHO, alinear: 'derecha' }) + 10
  )
}
