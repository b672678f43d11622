import { inGroups } from '../../platform/codes/guideCode.ts'
import { createCanvas } from '../../platform/pdf/canvas.ts'
import { createDocument } from '../../platform/pdf/document.ts'
import { createClock } from '../../platform/time/clock.ts'
import { drawCover, drawHeader, drawParties, drawReceiver } from './drawEntrega.ts'
import { altoDeNota, drawFotos, growthOf, heightOfDigests, heightOfEvidence, huellas, nota } from './drawEvidence.ts'
import { distributeRows, heightOfHistory, historial, measureHistoryRows } from './drawHistory.ts'
import { drawMap, MAX_HEIGHT_WITH_FOTOS } from './drawMap.ts'
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
  const pagina: PdfPage = { canvas: createCanvas(doc), datos, clock: createClock(datos.zona) }
  composePages(pagina)
  pagina.canvas.finish()
  doc.end()
  return bytes
}

function composePages(pagina: PdfPage): void {
  const { doc } = pagina.canvas
  const { fotos, firma } = pagina.datos
  const firmas = firma ? [firma] : []
  const archivos = [...fotos, ...firmas]
  let y = drawReceiver(pagina, drawParties(pagina, drawCover(pagina, drawHeader(pagina))))
  const rows = measureHistoryRows(pagina)
  const fitsOnePage = y + heightOfHistory(rows) + heightOfEvidence(pagina, fotos, archivos) <= CONTENT_BOTTOM
  // A second page without photos repeats the signature, enlarged, because there is no other evidence.
  const pictures = fotos.length > 0 || fitsOnePage ? fotos : firmas
  const evidenceHeight = heightOfEvidence(pagina, pictures, archivos)
  const [firstRows, otherRows] = fitsOnePage
    ? [rows, []]
    : distributeRows(rows, {
        first: CONTENT_BOTTOM - y,
        second: CONTENT_BOTTOM - SECOND_PAGE_TOP - evidenceHeight,
        growth: growthOf(pictures),
      })
  y = historial(pagina, firstRows, y)
  let hasMap = false
  if (!fitsOnePage) {
    hasMap = drawMap(pagina, y, CONTENT_BOTTOM - y) > y
    drawFooter(pagina, 1, 2)
    doc.addPage()
    pagina.canvas.artifact(() => doc.rect(0, 0, PDF_SHEET.ancho, 6).fill(pagina.datos.brand.color))
    y = historial(pagina, otherRows, SECOND_PAGE_TOP, firstRows.length > 0 ? 'Historial (continuación)' : 'Historial')
  }
  const freeHeight = CONTENT_BOTTOM - y - evidenceHeight
  if (!hasMap) y = drawMap(pagina, y, pictures.length > 0 ? Math.min(freeHeight, MAX_HEIGHT_WITH_FOTOS) : freeHeight)
  y = drawFotos(pagina, pictures, y, CONTENT_BOTTOM - y - heightOfDigests(archivos) - altoDeNota(pagina) - 24)
  huellas(pagina, archivos, y)
  nota(pagina)
  drawFooter(pagina, fitsOnePage ? 1 : 2, fitsOnePage ? 1 : 2)
}

function drawFooter({ canvas, datos }: PdfPage, numero: number, total: number): void {
  const y = PDF_SHEET.alto - PDF_SHEET.footer
  const style = { ...SMALL_STYLE, cuerpo: 7 }
  canvas.artifact(() => {
    const aviso = canvas.takeTranscribed() ? ' · * Transcrito de otro alfabeto' : ''
    const titulo = `${datos.brand.nombre} · Guía ${inGroups(datos.guia)}${aviso}`
    const [linea = ''] = canvas.split(titulo, style, CONTENT_WIDTH - 90, 1)
    canvas.write([linea], X, y, style)
    canvas.write([`Página ${numero} de ${total}`], X + CONTENT_WIDTH - 80, y, style, { ancho: 80, align: 'derecha' })
  })
}
