import bwipjs from 'bwip-js/node'
import type { PdfDocument } from './document.ts'

/**
 * Width in modules of the quiet zone, which stays white: 10 at both ends of a Code 128, 4 on all sides of a QR code.
 */
export const QUIET_ZONE_128 = 10
const QR_QUIET_ZONE = 4

/**
 * Returns the widths in modules of the bars and spaces of a Code 128, starting with a bar. Returns undefined if a Code
 * 128 cannot encode the text; only the text is then shown.
 */
export function barsOf(text: string): number[] | undefined {
  // bwip-js reads `^` as an escape only with the `parse` option. Without it the text is always plain data.
  const [symbol] = encode('code128', text)
  return symbol && 'sbs' in symbol ? symbol.sbs : undefined
}

export interface QrMatrix {
  side: number
  modules: ArrayLike<number>
}

/** Returns the modules of a QR code, without its quiet zone; undefined if the text is too long. */
export function qrOf(text: string): QrMatrix | undefined {
  const [symbol] = encode('qrcode', text)
  return symbol && 'pixs' in symbol ? { side: symbol.pixx, modules: symbol.pixs } : undefined
}

function encode(bcid: string, text: string) {
  try {
    return text ? bwipjs.raw({ bcid, text: text.toWellFormed(), ...(bcid === 'qrcode' ? { eclevel: 'M' } : {}) }) : []
  } catch {
    return []
  }
}

/**
 * Draws the bars as rectangles of one path. The bars stay sharp at every resolution, because no module is rounded on
 * its own.
 */
export function drawBars(
  doc: PdfDocument,
  bars: number[],
  x: number,
  y: number,
  moduleWidth: number,
  height: number,
): void {
  let cursor = x
  for (const [i, width] of bars.entries()) {
    if (i % 2 === 0) doc.rect(cursor, y, width * moduleWidth, height)
    cursor += width * moduleWidth
  }
  doc.fill('#000000')
}

/**
 * Draws a QR code with its quiet zone in a square of `side` points. Adjacent dark modules of a row form one rectangle,
 * so that no seam is visible.
 */
export function drawQr(doc: PdfDocument, { side: n, modules }: QrMatrix, x: number, y: number, side: number): void {
  const moduleSize = side / (n + 2 * QR_QUIET_ZONE)
  const border = QR_QUIET_ZONE * moduleSize
  for (let row = 0; row < n; row++) {
    for (let column = 0; column < n; column++) {
      if (!modules[row * n + column]) continue
      let until = column + 1
      while (until < n && modules[row * n + until]) until++
      doc.rect(
        x + border + column * moduleSize,
        y + border + row * moduleSize,
        (until - column) * moduleSize,
        moduleSize,
      )
      column = until
    }
  }
  doc.fill('#000000')
}
