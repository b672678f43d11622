import { inGroups } from '../../platform/codes/guideCode.ts'
import { createCanvas } from '../../platform/pdf/canvas.ts'
import { createDocument } from '../../platform/pdf/document.ts'
import { createClock } from '../../platform/time/clock.ts'
import { drawCover, drawHeader, drawParties, drawReceiver } from './drawEntrega.ts'
import { digests, drawFotos, growthOf, heightOfDigests, heightOfEvidence, nota, noteHeight } from './drawEvidence.ts'
import { distributeRows, heightOfHistory, history, measureHistoryRows } from './drawHistory.ts'
import { drawScene, MIN_SCENE_HEIGHT } from './drawScene.ts'
import type { PruebaData } from './pdfContent.ts'
import { CONTENT_BOTTOM, CONTENT_WIDTH, PDF_SHEET, type PdfPage, SMALL_STYLE, X } from './pdfSheet.ts'

/** Vertical position, in points, at which the content of the second page begins. */
const SECOND_PAGE_TOP = 34

/**
 * Draws the proof of delivery on one or two pages: what happened, then the evidence. The same data gives the same
 * bytes, because all dates come from the data. The digest of the file can therefore be stored and compared.
 */
export async function composePdf(datos: PruebaData): Promise<Buffer> {
  const { doc, bytes } = createDocument({
    titulo: `Prueba de entrega ${datos.guia}`,
    autor: datos.brand.nombre,
    subject: `Guía ${datos.guia}, ${datos.estado.toLowerCase()}`,
    creado_en: datos.registrado_en,
    size: [PDF_SHEET.ancho, PDF_SHEET.alto],
    tagged: true,
  })
  doc.addPage()
  const page: PdfPage = { canvas: createCanvas(doc), datos, clock: createClock(datos.zona) }
  composePages(page)
  page.canvas.finish()
  doc.end()
  return bytes
}

function composePages(page: PdfPage): void {
  const { doc } = page.canvas
  const { fotos, firma } = page.datos
  const firmas = firma ? [firma] : []
  const archivos = [...fotos, ...firmas]
  let y = drawReceiver(page, drawParties(page, drawCover(page, drawHeader(page))))
  const rows = measureHistoryRows(page)
  const historyHeight = heightOfHistory(rows)
  const onePageRest = CONTENT_BOTTOM - y - historyHeight - heightOfEvidence(page, fotos, archivos)
  const fitsOnePage = onePageRest >= 0
  // A second page without photos repeats the signature, enlarged, because there is no other evidence.
  const pictures = fotos.length > 0 || fitsOnePage ? fotos : firmas
  const second = CONTENT_BOTTOM - SECOND_PAGE_TOP - heightOfEvidence(page, pictures, archivos)
  const first = CONTENT_BOTTOM - y
  y = drawScene(page, y, fitsOnePage ? onePageRest : sceneHeight(first, second, historyHeight))
  const [firstRows, otherRows] = fitsOnePage
    ? [rows, []]
    : distributeRows(rows, { first: CONTENT_BOTTOM - y, second, growth: growthOf(pictures) })
  y = history(page, firstRows, y)
  if (!fitsOnePage) {
    drawFooter(page, 1, 2)
    doc.addPage()
    page.canvas.artifact(() => doc.rect(0, 0, PDF_SHEET.ancho, 6).fill(page.datos.brand.color))
    y = history(page, otherRows, SECOND_PAGE_TOP, firstRows.length > 0 ? 'Historial (continuación)' : 'Historial')
  }
  y = drawFotos(page, pictures, y, CONTENT_BOTTOM - y - heightOfDigests(archivos) - noteHeight(page) - 24)
  digests(page, archivos, y)
  nota(page)
  drawFooter(page, fitsOnePage ? 1 : 2, fitsOnePage ? 1 : 2)
}

/**
 * Returns the height for the scene on the first of two pages: the rest if the history fits below the scene. Otherwise
 * the scene gets the page if the history fits on the second one, and the minimum if the history needs both.
 */
function sceneHeight(first: number, second: number, historyHeight: number): number {
  // Whole points, because a sum that is larger by a rounding error would push the history to the second page.
  const belowHistory = Math.floor(first - historyHeight)
  if (belowHistory >= MIN_SCENE_HEIGHT) return belowHistory
  return historyHeight <= second ? first : Math.min(first, MIN_SCENE_HEIGHT)
}

function drawFooter({ canvas, datos }: PdfPage, number: number, total: number): void {
  const y = PDF_SHEET.alto - PDF_SHEET.footer
  const style = { ...SMALL_STYLE, size: 7 }
  canvas.artifact(() => {
    const aviso = canvas.takeTranscribed() ? ' · * Transcrito de otro alfabeto' : ''
    const title = `${datos.brand.nombre} · Guía ${inGroups(datos.guia)}${aviso}`
    const [line = ''] = canvas.split(title, style, CONTENT_WIDTH - 90, 1)
    canvas.write([line], X, y, style)
    canvas.write([`Página ${number} de ${total}`], X + CONTENT_WIDTH - 80, y, style, { ancho: 80, align: 'derecha' })
  })
}
