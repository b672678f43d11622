import bwipjs from 'bwip-js/node'
import type { PdfDocument } from './document.ts'

/**
 * Width in modules of the quiet zone, which stays white: 10 at both ends of a Code 128, 4 on all sides of a QR code.
 */
export const QUIET_ZONE_128 = 10
const SILENCIO_QR = 4

/**
 * Returns the widths in modules of the bars and spaces of a Code 128, starting with a bar. Returns undefined if a Code
 * 128 cannot encode the text; only the text is then shown.
 */
export function barsOf(texto: string): number[] | undefined {
  // bwip-js reads `^` as an escape only with the `parse` option. Without it the text is always plain data.
  const [simbolo] = codificar('code128', texto)
  return simbolo && 'sbs' in simbolo ? simbolo.sbs : undefined
}

export interface QrMatrix {
  lado: number
  modulos: ArrayLike<number>
}

/** Returns the modules of a QR code, without its quiet zone; undefined if the text is too long. */
export function qrOf(texto: string): QrMatrix | undefined {
  const [simbolo] = codificar('qrcode', texto)
  return simbolo && 'pixs' in simbolo ? { lado: simbolo.pixx, modulos: simbolo.pixs } : undefined
}

function codificar(bcid: string, text: string) {
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
export function drawBars(doc: PdfDocument, barras: number[], x: number, y: number, modulo: number, alto: number): void {
  let cursor = x
  for (const [i, ancho] of barras.entries()) {
    if (i % 2 === 0) doc.rect(cursor, y, ancho * modulo, alto)
    cursor += ancho * modulo
  }
  doc.fill('#000000')
}

/**
 * Draws a QR code with its quiet zone in a square of `lado` points. Adjacent dark modules of a row form one rectangle,
 * so that no seam is visible.
 */
export function drawQr(doc: PdfDocument, { lado: n, modulos }: QrMatrix, x: number, y: number, lado: number): void {
  const modulo = lado / (n + 2 * SILENCIO_QR)
  const borde = SILENCIO_QR * modulo
  for (let fila = 0; fila < n; fila++) {
    for (let columna = 0; columna < n; columna++) {
      if (!modulos[fila * n + columna]) continue
      let hasta = columna + 1
      while (hasta < n && modulos[fila * n + hasta]) hasta++
      doc.rect(x + borde + columna * modulo, y + borde + fila * modulo, (hasta - columna) * modulo, modulo)
      columna = hasta
    }
  }
  doc.fill('#000000')
}
