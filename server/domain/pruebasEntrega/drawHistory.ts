import { type Canvas, TONES } from '../../platform/pdf/canvas.ts'
import { lineHeight } from '../../platform/pdf/lines.ts'
import type { Milestone } from './pdfContent.ts'
import {
  CONTENT_WIDTH,
  coordinates,
  NO_DATA,
  type PdfPage,
  SMALL_STYLE,
  TEXT_STYLE,
  TITLE_STYLE,
  X,
} from './pdfSheet.ts'

const COLUMNS = [
  { titulo: 'Fecha', x: X, ancho: 112 },
  { titulo: 'Estado', x: X + 122, ancho: 218 },
  { titulo: 'Lugar', x: X + 350, ancho: CONTENT_WIDTH - 350 },
] as const
const CELL_STYLE = { ...TEXT_STYLE, size: 8.4 }
const ROW_GAP = 5
const LINE_HEIGHT = lineHeight(CELL_STYLE) + ROW_GAP
/** Height of the table's title, its header row and the space below it, in points. */
const SURROUND_HEIGHT = 48

/** Measured row of the table of events. */
export interface HistoryRow {
  texts: string[]
  alto: number
}

/** Returns the measured rows of the guide's events. */
export function measureHistoryRows({ canvas, datos, clock }: PdfPage): HistoryRow[] {
  const cellsOf = (milestone: Milestone) => [
    clock.formatShort(milestone.ocurrido_en),
    milestone.descripcion.trim() || NO_DATA,
    milestone.lugar?.trim() || coordinates(milestone) || NO_DATA,
  ]
  const height = (texts: string[]) =>
    Math.max(...texts.map((text, i) => canvas.alto(text, CELL_STYLE, COLUMNS[i]!.ancho, 2)), lineHeight(CELL_STYLE)) +
    ROW_GAP
  // Two pages hold far fewer than 200 rows, so measuring more would be wasted.
  return shortenTo(datos.historial, 200).map((milestone) => {
    const texts = typeof milestone === 'number' ? buildOmittedRow(milestone).texts : cellsOf(milestone)
    return { texts, alto: height(texts) }
  })
}

const shortenTo = (milestones: Milestone[], max: number): (Milestone | number)[] =>
  milestones.length <= max
    ? milestones
    : [...milestones.slice(0, max / 2), milestones.length - max, ...milestones.slice(-max / 2)]

/** Returns the height of the table with these rows, in points. */
export const heightOfHistory = (rows: HistoryRow[]): number =>
  rows.length === 0 ? 0 : SURROUND_HEIGHT + rows.reduce((sum, { alto }) => sum + alto, 0)

/** Minimum rows at the end of a page, and minimum rows carried over to the next; fewer look like an accident. */
const MIN_ROWS = { atEnd: 3, onNextPage: 4 }

/**
 * `first`, `second`: points that each page has left for the table. `growth`: points by which the content below the
 * table on the second page could still grow.
 */
interface PageSpace {
  first: number
  second: number
  growth: number
}

/**
 * Maximum points of a page that may stay empty: `split` if the table is split between pages, `together` if it stays
 * together. Both are below a third of the page.
 */
const MAX_EMPTY = { split: 180, together: 230 }

/**
 * Splits the rows between the two pages. Puts as many rows as possible on the first page if neither page stays too
 * empty. Otherwise keeps the larger of the two empty areas as small as possible.
 */
export function distributeRows(rows: HistoryRow[], { first, second, growth }: PageSpace): [HistoryRow[], HistoryRow[]] {
  const total = rows.length
  const cortes = Array.from({ length: total + 1 }, (_, count) => count)
    .filter((n) => n === 0 || n === total || (n >= MIN_ROWS.atEnd && n <= total - MIN_ROWS.onNextPage))
    .filter((n) => heightOfHistory(rows.slice(0, n)) <= first)
  const emptySpace = (n: number) =>
    Math.max(first - heightOfHistory(rows.slice(0, n)), second - heightOfHistory(rows.slice(n)) - growth)
  const cut =
    cortes.findLast((n) => emptySpace(n) <= (n === total ? MAX_EMPTY.together : MAX_EMPTY.split)) ??
    cortes.reduce((best, n) => (emptySpace(n) <= emptySpace(best) ? n : best), 0)
  return [rows.slice(0, cut), shorten(rows.slice(cut), second - SURROUND_HEIGHT)]
}

/**
 * Shortens rows that do not all fit. Keeps the first row and the last rows, which tell most, and a line with the number
 * of rows left out.
 */
function shorten(rows: HistoryRow[], height: number): HistoryRow[] {
  const [first, ...others] = rows
  if (!first || rows.reduce((sum, row) => sum + row.alto, 0) <= height) return rows
  const lastRows: HistoryRow[] = []
  let remaining = height - LINE_HEIGHT - first.alto
  for (const row of others.toReversed()) {
    if (row.alto > remaining && lastRows.length > 0) break
    remaining -= row.alto
    lastRows.unshift(row)
  }
  const omittedCount = others.length - lastRows.length
  return omittedCount === 0 ? rows : [first, buildOmittedRow(omittedCount), ...lastRows]
}

const buildOmittedRow = (count: number): HistoryRow => ({
  texts: ['', count === 1 ? '… 1 evento más …' : `… ${count} eventos más …`, ''],
  alto: LINE_HEIGHT,
})

/** Draws the table of events. Returns the vertical position of the next part. */
export function history({ canvas, datos, clock }: PdfPage, rows: HistoryRow[], y: number, title = 'Historial'): number {
  if (rows.length === 0) return y
  let bottom = canvas.paragraph(title, X, y, TITLE_STYLE, { role: 'H2' }) + 1
  const nota = `Horas en ${clock.zona(datos.entregado_en)}`
  canvas.paragraph(nota, X + CONTENT_WIDTH - 260, bottom - 14, SMALL_STYLE, { ancho: 260, align: 'derecha' })
  canvas.within('Table', () => {
    bottom = drawHeaderRow(canvas, bottom + 3)
    for (const row of rows) bottom = drawHistoryRow(canvas, row, bottom)
  })
  return bottom + 18
}

function drawHeaderRow(canvas: Canvas, y: number): number {
  let bottom = y
  canvas.within('TR', () => {
    for (const { titulo, x, ancho } of COLUMNS)
      bottom = canvas.paragraph(titulo, x, y, { ...SMALL_STYLE, weight: 'strong' }, { ancho, role: 'TH' })
  })
  canvas.rule(X, bottom + 2, CONTENT_WIDTH, TONES.ink, 0.8)
  return bottom + 3
}

function drawHistoryRow(canvas: Canvas, { texts, alto }: HistoryRow, y: number): number {
  canvas.within('TR', () => {
    for (const [i, text] of texts.entries()) {
      const { x, ancho } = COLUMNS[i]!
      const style = { ...CELL_STYLE, color: i === 1 ? TONES.ink : TONES.grey }
      canvas.paragraph(text, x, y + ROW_GAP / 2, style, { ancho, max: 2, role: 'TD' })
    }
  })
  canvas.rule(X, y + alto, CONTENT_WIDTH)
  return y + alto
}
