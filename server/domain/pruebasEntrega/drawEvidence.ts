import { fitInside } from '../../platform/images/prepareImage.ts'
import { TONES } from '../../platform/pdf/canvas.ts'
import type { Archivo } from './pdfContent.ts'
import { CONTENT_BOTTOM, CONTENT_WIDTH, type PdfPage, SMALL_STYLE, TITLE_STYLE, X } from './pdfSheet.ts'

const GAP = 10
const CAPTION_HEIGHT = 14
const TITULAR = 22
/** Maximum points per pixel: a tiny photo is enlarged, but not so much that its pixels become squares. */
const MAX_ENLARGEMENT = 10
/** Maximum height of the grid of photos, in points. */
const MAX_GRID_HEIGHT = 560
const PLACEHOLDER_SIZE = { ancho: 4, alto: 3 }
const DIGEST_STYLE = { ...SMALL_STYLE, size: 7.2, color: TONES.ink }

/**
 * Returns the grid that shows the largest area of photos. Photos are never cropped, because the cropped part might
 * matter.
 */
function findBestGrid(fotos: Archivo[], height: number) {
  const options = [1, 2, 3, 4, 5]
    .filter((columns) => columns <= fotos.length)
    .map((columns) => {
      const rowCount = Math.ceil(fotos.length / columns)
      const caja = {
        ancho: (CONTENT_WIDTH - GAP * (columns - 1)) / columns,
        alto: (height - (GAP + CAPTION_HEIGHT) * rowCount) / rowCount,
      }
      const seen = fotos.reduce((sum, { image }) => {
        const size = fitInside(image ?? PLACEHOLDER_SIZE, caja, MAX_ENLARGEMENT)
        return sum + size.ancho * size.alto
      }, 0)
      return { columns, caja, seen }
    })
  return options.reduce((best, option) => (option.seen > best.seen ? option : best))
}

/**
 * Draws photos, or the signature, in a grid at most `height` points high. Returns the vertical position of the next part.
 */
export function drawFotos({ canvas, datos, clock }: PdfPage, fotos: Archivo[], y: number, height: number): number {
  if (fotos.length === 0) return y
  const isFirma = fotos[0] === datos.firma
  const title = isFirma ? 'Firma, ampliada' : fotos.length === 1 ? 'Foto' : `Fotos (${fotos.length})`
  const top = canvas.paragraph(title, X, y, TITLE_STYLE, { role: 'H2' }) + 8
  const { columns, caja } = findBestGrid(fotos, Math.min(height - TITULAR, MAX_GRID_HEIGHT))
  let bottom = top
  for (let firstIndex = 0; firstIndex < fotos.length; firstIndex += columns) {
    const rowFotos = fotos.slice(firstIndex, firstIndex + columns)
    // A row is as high as its highest photo, which leaves less grey area and more room below.
    const alta = Math.max(
      ...rowFotos.map(({ image }) => fitInside(image ?? PLACEHOLDER_SIZE, caja, MAX_ENLARGEMENT).alto),
    )
    for (const [i, foto] of rowFotos.entries()) {
      const cell = { x: X + i * (caja.ancho + GAP), y: bottom, ancho: caja.ancho, alto: alta }
      drawFoto({ canvas, datos, clock }, foto, isFirma ? 'Firma' : `Foto ${firstIndex + i + 1}`, cell, columns > 3)
    }
    bottom += alta + CAPTION_HEIGHT + GAP
  }
  return bottom + 6
}

/** Place of a picture on a page, in points. */
export type Cell = { x: number; y: number; ancho: number; alto: number }

/** Draws a photo as large as its place permits, and its caption below. */
export function drawFoto(
  { canvas, datos, clock }: PdfPage,
  foto: Archivo,
  name: string,
  cell: Cell,
  isNarrow: boolean,
): void {
  const { image, capturado_en: tomada } = foto
  const { x, y, ancho, alto } = cell
  canvas.artifact(() => canvas.doc.rect(x, y, ancho, alto).fill(TONES.background))
  if (image) {
    const size = fitInside(image, cell, MAX_ENLARGEMENT)
    const [left, topEdge] = [x + (ancho - size.ancho) / 2, y + (alto - size.alto) / 2]
    const descripcion = `${name} de la entrega de la guía ${datos.guia}`
    canvas.image(descripcion, image.bytes, left, topEdge, size)
  } else {
    const nota = 'No se pudo mostrar esta imagen; su huella está en la tabla.'
    const noteWidth = ancho - 16
    const noteTop = y + (alto - canvas.alto(nota, SMALL_STYLE, noteWidth, 3)) / 2
    canvas.paragraph(nota, x + 8, noteTop, SMALL_STYLE, { ancho: noteWidth, max: 3, align: 'centro' })
  }
  const when = tomada ? ` · ${isNarrow ? clock.hora(tomada) : clock.formatShort(tomada)}` : ''
  canvas.paragraph(`${name}${when}`, x, y + alto + 2, SMALL_STYLE, { ancho, role: 'Caption' })
}

const ROW_HEIGHT = 11.6

/** Returns the height of the table of digests, in points. */
export const heightOfDigests = (archivos: Archivo[]): number =>
  archivos.length === 0 ? 0 : 46 + archivos.length * ROW_HEIGHT

/** Draws the table of the files' digests. Returns the vertical position of the next part. */
export function digests({ canvas }: PdfPage, archivos: Archivo[], y: number): number {
  if (archivos.length === 0) return y
  let bottom = canvas.paragraph('Integridad de los archivos', X, y, TITLE_STYLE, { role: 'H2' }) + 4
  const columns = [
    { titulo: 'Archivo', x: X, ancho: 170 },
    { titulo: 'SHA-256 del archivo guardado', x: X + 182, ancho: CONTENT_WIDTH - 182 },
  ]
  const drawRow = (texts: string[], role: 'TH' | 'TD', style: typeof DIGEST_STYLE) =>
    canvas.within('TR', () => {
      for (const [i, { x, ancho }] of columns.entries())
        canvas.paragraph(texts[i] ?? '', x, bottom, style, { ancho, role })
    })
  canvas.within('Table', () => {
    drawRow(
      columns.map(({ titulo }) => titulo),
      'TH',
      { ...SMALL_STYLE, weight: 'strong' } as typeof DIGEST_STYLE,
    )
    bottom += 12
    canvas.rule(X, bottom, CONTENT_WIDTH, TONES.ink, 0.8)
    bottom += 3
    for (const { nombre, sha256 } of archivos) {
      drawRow([nombre, sha256], 'TD', DIGEST_STYLE)
      bottom += ROW_HEIGHT
    }
  })
  return bottom + 10
}

const NOTE_STYLE = { ...SMALL_STYLE, size: 7.4, leading: 1.45 }
const MAX_NOTE_LINES = 5

function buildNoteText({ datos, clock }: PdfPage): string {
  const when = `el ${clock.formatLong(datos.registrado_en)}, ${clock.zona(datos.registrado_en)}`
  return (
    `Entrega registrada por ${datos.brand.nombre} ${when}. Las fotos se muestran reducidas; las huellas SHA-256 son ` +
    'las de los archivos guardados con la prueba. Este documento tiene una firma digital: para comprobar que es el ' +
    `original, abra la dirección de verificación y elija este PDF: ${datos.verificationUrl}`
  )
}

/** Returns the height of the closing note, in points. */
export const noteHeight = (page: PdfPage): number =>
  page.canvas.alto(buildNoteText(page), NOTE_STYLE, CONTENT_WIDTH, MAX_NOTE_LINES) + 8

/** Draws the closing note at the foot of the page, wherever the rest ends. */
export function nota(page: PdfPage): void {
  const height = noteHeight(page)
  const y = CONTENT_BOTTOM - height
  page.canvas.rule(X, y, CONTENT_WIDTH)
  page.canvas.paragraph(buildNoteText(page), X, y + 6, NOTE_STYLE, { ancho: CONTENT_WIDTH, max: MAX_NOTE_LINES })
}

/** Minimum height, in points, of a row in which photos still show something. */
export const MIN_FOTOS_HEIGHT = 190

/**
 * Returns by how many points the pictures can exceed their minimum height if there is room. Negative if the only
 * picture is lower than the minimum. Several pictures can fill the whole page.
 */
export function growthOf([single, ...others]: Archivo[]): number {
  if (!single) return 0
  if (others.length > 0) return CONTENT_BOTTOM
  const { alto } = fitInside(
    single.image ?? PLACEHOLDER_SIZE,
    { ancho: CONTENT_WIDTH, alto: MAX_GRID_HEIGHT },
    MAX_ENLARGEMENT,
  )
  return alto - MIN_FOTOS_HEIGHT
}

/** Returns the minimum height of photos, digests and closing note together, in points. */
export const heightOfEvidence = (page: PdfPage, fotos: Archivo[], archivos: Archivo[]): number =>
  (fotos.length === 0 ? 0 : TITULAR + MIN_FOTOS_HEIGHT * (fotos.length > 4 ? 2 : 1)) +
  heightOfDigests(archivos) +
  noteHeight(page)
