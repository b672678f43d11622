/**
 * Commands of ZPL II, the language of label printers (Zebra, and most others). Coordinates of the functions are in
 * points; commands count dots of the printer.
 */
import {
  createLines,
  graphemes,
  inAscii,
  lineHeight,
  markTranscribed,
  type TextStyle,
  type Typography,
} from '../pdf/lines.ts'

/** Resolutions of label printers, in dots per inch, with the dots per millimetre of their print heads. */
export const DOTS_PER_MM = { 203: 8, 300: 12 } as const
export type Resolution = keyof typeof DOTS_PER_MM

const MM_PER_POINT = 25.4 / 72

/** Returns the function that converts points to dots of a printer. */
export const dotsOf = (ppp: Resolution) => (points: number) => Math.round(points * MM_PER_POINT * DOTS_PER_MM[ppp])

/** Matches what stands in field data as it is. Everything else is written as the hexadecimal digits of its bytes. */
const PLAIN = /^[A-Za-z0-9 .,:;/()-]$/

/**
 * Writes a text as field data. `^FH` makes the printer read `_XX` as a byte, so no text contains `^`, `~`, `_` or a byte
 * outside of ASCII: none can begin a command, and no print queue changes its encoding. A `\` becomes `/`, because some
 * printers read `\&` as the end of a line.
 */
export const fieldData = (text: string): string => {
  const bytes = (rawCharacter: string) =>
    [...Buffer.from(rawCharacter)].map((byte) => `_${byte.toString(16).padStart(2, '0')}`)
  const escapedCharacters = [...text.toWellFormed().replaceAll('\\', '/')].map((character) =>
    PLAIN.test(character) ? character : bytes(character).join('').toUpperCase(),
  )
  return `^FH^FD${escapedCharacters.join('')}^FS`
}

/** Returns the command that places the next field. */
const at = (x: number, y: number) => `^FO${Math.max(0, x)},${Math.max(0, y)}`

/** Returns a filled rectangle. `^GB` draws frames, and one as thick as its shorter side is full. */
export const box = (x: number, y: number, width: number, height: number): string =>
  `${at(x, y)}^GB${width},${height},${Math.max(1, Math.min(width, height))}^FS`

/** Matches the texts that {@link code128} encodes: those of guide codes. */
export const CODE_128_TEXT = /^[A-Za-z0-9-]+$/

/**
 * Returns a Code 128 symbol in code set B, in which each character has 11 modules.
 * @param text text that {@link CODE_128_TEXT} matches
 * @param moduleWidth width of a module in dots
 */
export const code128 = (x: number, y: number, moduleWidth: number, height: number, text: string): string =>
  `${at(x, y)}^BY${moduleWidth},3,${height}^BCN,${height},N,N,N^FD>:${text}^FS`

/** Returns the width of a Code 128 symbol in code set B, in modules: start, characters, check character, stop. */
export const modulesOf128 = (text: string): number => 11 * (text.length + 2) + 13

/** Most bytes of a QR code with correction level M, by version from 1 (ISO/IEC 18004). */
const QR_BYTES = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331]

/** Returns the modules on a side of the QR code of a text; undefined if the code would be too dense for labels. */
export function modulesOfQr(text: string): number | undefined {
  const version = QR_BYTES.findIndex((maximum) => Buffer.byteLength(text) <= maximum)
  return version < 0 ? undefined : 21 + 4 * version
}

/** Dots by which printers place a QR code lower than `^FO` says: 10, or the height that `^BY` set for other codes. */
const QR_SHIFT = 10

/** Returns a QR code with correction level M, whose modules are squares of `moduleSize` dots. */
export const qrCode = (x: number, y: number, moduleSize: number, text: string): string =>
  `${at(x, y - QR_SHIFT)}^BY2,3,${QR_SHIFT}^BQN,2,${moduleSize},M${fieldData(`MA,${text}`)}`

/** Returns a picture of one bit per dot, in rows of whole bytes. */
export function picture(x: number, y: number, width: number, bits: Uint8Array): string {
  const hex = Buffer.from(bits).toString('hex').toUpperCase()
  return `${at(x, y)}^GFA,${bits.length},${bits.length},${Math.ceil(width / 8)},${hex}^FS`
}

/** Characters that the scalable font of every printer has; U+00AD is invisible. */
const LATIN_1 = /^[\x20-\x7E\xA1-\xAC\xAE-\xFF]*$/
const PUNCTUATION = /^[\p{P}\p{Z}]+$/u

/** Widths in heights of the letters, as upper bounds for the condensed font 0 of Zebra and its replacements. */
const NARROW = 0.34
const WIDE = 0.85
const CAPITAL = 0.63
const OTHER = 0.52
const widthOf = (rawCharacter: string): number => {
  if (/[ !"'()*,./:;I[\\\]`fijlrt|{}¡¨¯´·¸ÌÍÎÏìíîï]/.test(rawCharacter)) return NARROW
  if (/[%@WMm&wÆæ©®¼½¾]/.test(rawCharacter)) return WIDE
  return /[A-ZÀ-Þ]/.test(rawCharacter) ? CAPITAL : OTHER
}

/** Height of font 0 in multiples of the size of a PDF's font, so that capitals have about the same height. */
const FONT_SCALE = 1.02

/** Creates the text layout for a printer's own font, whose letters are always bold. Each line is a field. */
export function createPrinterTypography(ppp: Resolution, writeField: (field: string) => void): Typography {
  const dots = dotsOf(ppp)
  let transcribed = false

  const measure = (text: string, { size: body }: TextStyle): number => {
    let units = 0
    for (const rawCharacter of text.replaceAll('…', '...')) units += widthOf(rawCharacter)
    return units * body * FONT_SCALE
  }

  /** Writes a text with the letters of the font. A different punctuation mark is no transcription. */
  function legible(text: string): string {
    if (LATIN_1.test(text)) return text
    let marked = false
    const transcribedParts = [...graphemes.segment(text)].map(({ segment }) => {
      if (LATIN_1.test(segment)) return segment
      marked ||= !PUNCTUATION.test(segment)
      return [...inAscii(segment)].map((character) => (LATIN_1.test(character) ? character : '?')).join('')
    })
    transcribed ||= marked
    const visible = transcribedParts.join('')
    return marked ? markTranscribed(visible) : visible
  }

  return {
    measure,
    ...createLines({ measure, legible }),
    write(lines, x, y, style, { ancho = 0, align = 'izquierda' } = {}) {
      const height = lineHeight(style)
      const body = dots(style.size * FONT_SCALE)
      for (const [i, line] of lines.entries()) {
        const top = y + i * height + (height - style.size * FONT_SCALE) / 2
        const spareWidth = align === 'izquierda' ? 0 : ancho - measure(line, style)
        const left = x + (align === 'centro' ? spareWidth / 2 : spareWidth)
        const reverse = style.color === '#FFFFFF' ? '^FR' : ''
        writeField(
          `${at(dots(left), dots(top))}${reverse}^A0N,${body},${body}${fieldData(line.replaceAll('…', '...'))}`,
        )
      }
      return y + lines.length * height
    },
    takeTranscribed() {
      const taken = transcribed
      transcribed = false
      return taken
    },
  }
}
