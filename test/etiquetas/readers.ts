import type { QrMatrix } from '../../server/platform/pdf/barcodes.ts'

/** Widths of bars and spaces of each symbol of Code 128 (ISO/IEC 15417), 0 to 105; the stop pattern has seven. */
const CODE128_PATTERNS =
  '212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222 123122 123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 232121 111323 131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 313121 211331 231131 213113 213311 213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 111422 121124 121421 141122 141221 112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111 111242 121142 121241 114212 124112 124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113 114311 411113 411311 113141 114131 311141 411131 211412 211214 211232'.split(
    ' ',
  )
const STOP_PATTERN = '2331112'

/** A reader of Code 128 as a scanner does it: start, check character, stop. @throws if any is wrong */
export function readBarcode(widths: number[]): string {
  const widthDigits = widths.join('')
  if (!widthDigits.endsWith(STOP_PATTERN)) throw new Error('no stop pattern')
  const values = (widthDigits.slice(0, -7).match(/.{6}/g) ?? []).map((pattern) => CODE128_PATTERNS.indexOf(pattern))
  const checkCharacter = values.pop()
  const [startCode = -1, ...body] = values
  const checksum = body.reduce((total, value, i) => total + value * (i + 1), startCode)
  if (startCode < 103 || values.includes(-1) || checksum % 103 !== checkCharacter) throw new Error('unreadable')
  let codeSet = 'ABC'[startCode - 103]!
  let text = ''
  for (const value of body) {
    if (value === 99 && codeSet !== 'C') codeSet = 'C'
    else if (value === 100 && codeSet !== 'B') codeSet = 'B'
    else if (value === 101 && codeSet !== 'A') codeSet = 'A'
    else if (codeSet === 'C') text += String(value).padStart(2, '0')
    else text += String.fromCharCode(value + 32)
  }
  return text
}

/** Data codewords of each block, by version (1 to 6) and level: bwip-js raises the level when the symbol has room for it. */
const BLOCK_SIZES = {
  L: [[19], [34], [55], [80], [108], [68, 68]],
  M: [[16], [28], [44], [32, 32], [43, 43], [27, 27, 27, 27]],
  Q: [[13], [22], [17, 17], [24, 24], [15, 15, 16, 16], [19, 19, 19, 19]],
  H: [[9], [16], [13, 13], [9, 9, 9, 9], [11, 11, 12, 12], [15, 15, 15, 15]],
} as const
const MASKS = [
  (f: number, c: number) => (f + c) % 2 === 0,
  (f: number) => f % 2 === 0,
  (_: number, c: number) => c % 3 === 0,
  (f: number, c: number) => (f + c) % 3 === 0,
  (f: number, c: number) => (Math.floor(f / 2) + Math.floor(c / 3)) % 2 === 0,
  (f: number, c: number) => ((f * c) % 2) + ((f * c) % 3) === 0,
  (f: number, c: number) => (((f * c) % 2) + ((f * c) % 3)) % 2 === 0,
  (f: number, c: number) => (((f + c) % 2) + ((f * c) % 3)) % 2 === 0,
]

/** A reader of small QR codes (ISO/IEC 18004: versions 1 to 6) that corrects nothing: the symbol must be perfect. */
export function readQr({ side: n, modules }: QrMatrix): string {
  const moduleAt = (f: number, c: number) => modules[f * n + c]!
  const version = (n - 17) / 4
  // Level and mask: the first five bits of the format information beside the upper left finder, masked with 10101.
  const level = (['M', 'L', 'H', 'Q'] as const)[((moduleAt(8, 0) << 1) | moduleAt(8, 1)) ^ 0b10]!
  const blockSizes = BLOCK_SIZES[level][version - 1]
  if (!blockSizes) throw new Error(`version ${version}`)
  const mask = MASKS[((moduleAt(8, 2) << 2) | (moduleAt(8, 3) << 1) | moduleAt(8, 4)) ^ 0b101]!
  const fijo = (f: number, c: number) =>
    (f < 9 && (c < 9 || c >= n - 8)) ||
    (f >= n - 8 && c < 9) ||
    f === 6 ||
    c === 6 ||
    (version > 1 && Math.abs(f - (n - 7)) <= 2 && Math.abs(c - (n - 7)) <= 2)
  const bits: number[] = []
  let isUpward = true
  for (let rightColumn = n - 1; rightColumn > 0; rightColumn -= 2) {
    if (rightColumn === 6) rightColumn--
    for (let i = 0; i < n; i++) {
      const f = isUpward ? n - 1 - i : i
      for (const c of [rightColumn, rightColumn - 1]) if (!fijo(f, c)) bits.push(moduleAt(f, c) ^ (mask(f, c) ? 1 : 0))
    }
    isUpward = !isUpward
  }
  const codewords = Array.from({ length: bits.length >> 3 }, (_, i) =>
    Number.parseInt(bits.slice(i * 8, i * 8 + 8).join(''), 2),
  )
  // Blocks are interleaved codeword by codeword; the longer ones come last.
  const datos: number[][] = blockSizes.map(() => [])
  for (let i = 0, next = 0; i < Math.max(...blockSizes); i++) {
    for (const [blockIndex, length] of blockSizes.entries()) if (i < length) datos[blockIndex]!.push(codewords[next++]!)
  }
  return readBytes(datos.flat())
}

/** Segments of digits, alphanumerics and bytes, until the terminator. */
function readBytes(datos: number[]): string {
  const bits = datos.map((codeword) => codeword.toString(2).padStart(8, '0')).join('')
  let moduleAt = 0
  const tomar = (bitCount: number) => {
    const readBits = bits.slice(moduleAt, moduleAt + bitCount)
    moduleAt += bitCount
    return Number.parseInt(readBits || '0', 2)
  }
  const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:'
  let text = ''
  for (let modo = tomar(4); modo !== 0 && moduleAt < bits.length; modo = tomar(4)) {
    let remaining = tomar(modo === 1 ? 10 : modo === 2 ? 9 : 8)
    while (remaining > 0) {
      if (modo === 4) {
        text += String.fromCharCode(tomar(8))
        remaining--
      } else if (modo === 1) {
        const digitCount = Math.min(3, remaining)
        text += String(tomar([0, 4, 7, 10][digitCount]!)).padStart(digitCount, '0')
        remaining -= digitCount
      } else {
        const value = tomar(remaining > 1 ? 11 : 6)
        text += (remaining > 1 ? ALPHANUMERIC[Math.floor(value / 45)]! : '') + ALPHANUMERIC[value % 45]!
        remaining -= Math.min(2, remaining)
      }
    }
  }
  return text
}

/** Rectangles of a page, `[x, y, ancho, alto]` in points from the upper left corner. */
const readRectangles = (contenido: string) =>
  [...contenido.matchAll(/^([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+) re$/gm)].map((r) => r.slice(1, 5).map(Number))

/** Bars of a label: the rectangles that are as high as they are. */
export const findBars = (contenido: string) => readRectangles(contenido).filter(([, , , height]) => height === 56)
export const MODULE_POINTS = (4 / 203) * 72

/** Widths of a label's bars and spaces, in modules. */
export function measureWidths(contenido: string): number[] {
  const widths: number[] = []
  const bars = findBars(contenido)
  for (const [i, [x, , width]] of bars.entries()) {
    const before = bars[i - 1]
    if (before) widths.push((x! - before[0]! - before[2]!) / MODULE_POINTS)
    widths.push(width! / MODULE_POINTS)
  }
  return widths
}
export const readDrawnWidths = (contenido: string) => measureWidths(contenido).map(Math.round)

/** The modules of a label's QR. Its side in points is known; the rows' height says how many there are. */
export function readDrawnQr(contenido: string): QrMatrix {
  const sidePoints = 78
  const qrRectangles = readRectangles(contenido).filter(([x, y, , height]) => x! > 190 && y! > 300 && height! < 5)
  const modulePoints = Math.min(...qrRectangles.map(([, , , height]) => height!))
  const n = Math.round(sidePoints / modulePoints) - 8
  const moduleRuns = qrRectangles.filter(([, , , height]) => Math.abs(height! - modulePoints) < 0.01)
  const [x0, y0] = [Math.min(...moduleRuns.map(([x]) => x!)), Math.min(...moduleRuns.map(([, y]) => y!))]
  const modules = new Uint8Array(n * n)
  for (const [x, y, width] of moduleRuns) {
    const [column, row] = [Math.round((x! - x0) / modulePoints), Math.round((y! - y0) / modulePoints)]
    modules.fill(1, row * n + column, row * n + column + Math.round(width! / modulePoints))
  }
  return { side: n, modules }
}
