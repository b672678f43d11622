import anyAscii from 'any-ascii'

export interface TextStyle {
  size: number
  weight?: 'normal' | 'strong'
  color?: string
  /** Line height, in multiples of `cuerpo`. */
  leading?: number
  /** Extra space after each character, in points. */
  letterSpacing?: number
}

export interface TextOptions {
  ancho?: number
  align?: 'izquierda' | 'centro' | 'derecha'
}

/**
 * Text layout that pdfkit does not offer: fallback fonts, a maximum number of lines, and breaks inside very long words.
 */
export interface Typography {
  measure(text: string, style: TextStyle): number
  /**
   * Breaks a text into at most `max` lines no wider than `width`. «…» replaces the rest of the text. Letters that
   * cannot be shown are transcribed, and the text then ends with a mark.
   */
  split(text: string, style: TextStyle, width: number, max: number): string[]
  /**
   * Finds the largest size of `bodySizes` (descending) at which the text fits into the box. If none fits, uses the
   * smallest size and cuts the text.
   */
  fit(text: string, style: Omit<TextStyle, 'size'>, bodySizes: readonly number[], box: TextBox): FittedText
  /**
   * Draws lines of text.
   * @returns the `y` below the last line
   */
  write(lines: string[], x: number, y: number, style: TextStyle, writing?: TextOptions): number
  /** Reports whether a text was transcribed since the last call. */
  takeTranscribed(): boolean
}

/** Mark at the end of a transcribed text. */
const TRANSCRIBED = '*'

export interface TextBox {
  ancho: number
  alto: number
}

export interface FittedText {
  lineas: string[]
  style: TextStyle
  alto: number
}

/** Character that stands for one that cannot be shown. */
export const REPLACEMENT = '□'
/** Characters that would disturb the layout: controls, directions, joiners, variation selectors, tags, Arabic stretches. */
const INVISIBLE_CHARACTERS =
  /[\p{Cc}\u00AD\u061C\u0640\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]|\p{Variation_Selector}/gu
/** Letters and digits that a reader of Latin script does not know. */
export const FOREIGN = /(?=[\p{L}\p{M}\p{N}])[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]|(?![0-9])\p{Nd}/u

/** Splits texts into the characters that a reader sees. */
export const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' })

/** Converts a text to one line of well-formed Unicode in NFC. Removes invisible characters and the skin tone of emoji. */
export const cleanText = (text: string): string =>
  text
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\s\u2028\u2029]+/g, ' ')
    .replace(/\p{Emoji_Modifier}/gu, '')
    .replace(INVISIBLE_CHARACTERS, '')
    .trim()

export const lineHeight = ({ size, leading = 1.34 }: TextStyle): number => size * leading

/** The most common Arabic letter. The table of transcriptions has nothing for it. */
const ARABIC_A = /[\u0627\u0671]/g

/**
 * Writes a grapheme with ASCII. Left out are the mark for an Arabic or Hebrew letter without a Latin counterpart, and
 * emoji, which the table names in English.
 */
export const inAscii = (grapheme: string): string =>
  (anyAscii(grapheme.replace(ARABIC_A, 'a')) || REPLACEMENT).replace(/[`\s]+|:[\w+-]+:/g, '')

/** Adds the mark of a transcribed text. A text of emoji alone says what it was. */
export const markTranscribed = (text: string): string => `${text.trim() || '(emoji)'}${TRANSCRIBED}`

/** Parts of a text layout that depend on the fonts. */
interface Fonts {
  measure: Typography['measure']
  /** Transcribes the letters that cannot be shown. */
  legible: (text: string) => string
}

/** Returns the functions that break texts into lines, for any fonts. */
export function createLines({ measure, legible }: Fonts): Pick<Typography, 'split' | 'fit'> {
  /** Returns the longest beginning of `text` that is no wider than `width`, but at least one character. */
  function fittingStart(text: string, style: TextStyle, width: number): string {
    let until = ''
    let usedWidth = 0
    for (const { segment } of graphemes.segment(text)) {
      usedWidth += measure(segment, style)
      if (usedWidth > width && until) break
      until += segment
    }
    return until
  }

  function split(text: string, style: TextStyle, width: number, max: number): string[] {
    const lines: string[] = []
    const spaceWidth = measure(' ', style)
    let line = ''
    let usedWidth = 0
    const pending = legible(cleanText(text)).split(' ').filter(Boolean).reverse()
    while (pending.length > 0 && lines.length <= max) {
      const word = pending.pop()!
      const wordWidth = measure(word, style)
      if (line && usedWidth + spaceWidth + wordWidth <= width) {
        line += ` ${word}`
        usedWidth += spaceWidth + wordWidth
        continue
      }
      if (line) lines.push(line)
      line = wordWidth <= width ? word : fittingStart(word, style, width)
      usedWidth = wordWidth
      if (line !== word) {
        lines.push(line)
        pending.push(word.slice(line.length))
        line = ''
      }
    }
    if (line) lines.push(line)
    if (lines.length <= max) return lines
    const keptLines = lines.slice(0, max)
    const last = fittingStart(keptLines.at(-1)!, style, width - measure('…', style)).trimEnd()
    return [...keptLines.slice(0, -1), `${last}…`]
  }

  function fit(
    text: string,
    base: Omit<TextStyle, 'size'>,
    bodySizes: readonly number[],
    { ancho, alto }: TextBox,
  ): FittedText {
    let style: TextStyle = { ...base, size: bodySizes.at(-1) ?? 8 }
    for (const size of bodySizes) {
      style = { ...base, size }
      const maxLines = Math.floor(alto / lineHeight(style))
      const lineas = split(text, style, ancho, maxLines + 1)
      if (lineas.length <= maxLines) return { lineas, style, alto: lineas.length * lineHeight(style) }
    }
    const lineas = split(text, style, ancho, Math.max(1, Math.floor(alto / lineHeight(style))))
    return { lineas, style, alto: lineas.length * lineHeight(style) }
  }

  return { split, fit }
}
