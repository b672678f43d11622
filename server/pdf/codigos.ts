import bwipjs from 'bwip-js/node'
import type { Documento } from './documento.ts'

/** Light modules that must stay free around a symbol: 10 at either side of a Code 128, 4 all around a QR. */
export const SILENCIO_128 = 10
const SILENCIO_QR = 4

/** Widths in modules, beginning with a bar; undefined if the text has no Code 128 (it is then shown as text alone). */
export function barrasDe(texto: string): number[] | undefined {
  // bwip-js reads `^` as an escape only with `parse`; the code is data and nothing else.
  const [simbolo] = codificar('code128', texto)
  return simbolo && 'sbs' in simbolo ? simbolo.sbs : undefined
}

export interface Matriz {
  lado: number
  modulos: ArrayLike<number>
}

/** The modules of a QR, without its quiet zone; undefined if the text is too long for one. */
export function qrDe(texto: string): Matriz | undefined {
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

/** Bars as rectangles of one path: sharp at every resolution, and no module is rounded on its own. */
export function dibujarBarras(
  doc: Documento,
  barras: number[],
  x: number,
  y: number,
  modulo: number,
  alto: number,
): void {
  let cursor = x
  for (const [i, ancho] of barras.entries()) {
    if (i % 2 === 0) doc.rect(cursor, y, ancho * modulo, alto)
    cursor += ancho * modulo
  }
  doc.fill('#000000')
}

/**
 * The symbol with its quiet zone in a square of `lado` points; neighbours in a row are one rectangle, so no seam shows.
 */
export function dibujarQr(doc: Documento, { lado: n, modulos }: Matriz, x: number, y: number, lado: number): void {
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
