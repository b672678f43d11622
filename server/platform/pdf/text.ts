import { type Font, useFont } from './fonts.ts'
import {
  createLines,
  FOREIGN,
  graphemes,
  inAscii,
  lineHeight,
  markTranscribed,
  REPLACEMENT,
  type TextOptions,
  type TextStyle,
  type Typography,
} from './lines.ts'

/** `latin`: letters of other scripts are transcribed. `fonts`: only letters that no font has. */
export type Alphabet = 'latin' | 'fonts'

/** Run of text in one font. */
interface TextRun {
  font: Font
  texto: string
}

const LATIN = /^[\x20-\x7E\xA1-\xAC\xAE-\xFF]*$/
const RTL = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/
/**
 * Maximum number of characters per grapheme. A letter with more marks is not real text, and the marks would cover the
 * lines above.
 */
const MAX_MARKS = 4

/** Splits texts into runs that a font can write, and replaces what no font has. */
function createRuns(doc: PDFKit.PDFDocument, alphabet: Alphabet) {
  let transcribed = false
  const registered = new Set<Font>()
  const runsByText = new Map<string, TextRun[]>()
  const selectFont = (font: Font) => useFont(doc, font, registered)
  const hasGlyphs = (font: Font, grapheme: string): boolean => {
    const abierta = selectFont(font)
    return [...grapheme].every((character) => abierta.hasGlyphForCodePoint(character.codePointAt(0)!))
  }

  const chooseRun = (grapheme: string): TextRun => {
    const texto = [...grapheme].slice(0, MAX_MARKS).join('')
    if (LATIN.test(texto) || hasGlyphs('normal', texto)) return { font: 'normal', texto }
    return { font: 'fallback', texto: hasGlyphs('fallback', texto) ? texto : REPLACEMENT }
  }

  /** Transcribes the letters and emoji that the reader or the fonts do not know. */
  function legible(text: string): string {
    if (LATIN.test(text)) return text
    const transcribedParts = [...graphemes.segment(text)].map(({ segment }) => {
      const isForeign = alphabet === 'latin' && FOREIGN.test(segment)
      return isForeign || !(hasGlyphs('normal', segment) || hasGlyphs('fallback', segment)) ? inAscii(segment) : segment
    })
    const visible = transcribedParts.join('')
    if (visible === text) return text
    transcribed = true
    return markTranscribed(visible)
  }

  /** Replaces a run by `□` if the font's shaper fails on its script, so that the document is still created. */
  const toSafeRun = (run: TextRun): TextRun => {
    try {
      selectFont(run.font)
      doc.fontSize(10).widthOfString(run.texto)
      return run
    } catch {
      return { font: 'fallback', texto: REPLACEMENT }
    }
  }

  function splitRuns(texto: string): TextRun[] {
    if (LATIN.test(texto)) return [{ font: 'normal', texto }]
    const cachedRuns = runsByText.get(texto)
    if (cachedRuns) return cachedRuns
    const runs: TextRun[] = []
    for (const { segment } of graphemes.segment(inVisualOrder(texto))) {
      const last = runs.at(-1)
      // A space after a right-to-left word becomes a run of its own. Otherwise pdfkit would shape the space with the
      // word and move it to the other side.
      const isSeparate = segment === ' ' && last && RTL.test(last.texto)
      const { font, texto: runText } =
        segment === ' ' && last && !isSeparate ? { ...last, texto: ' ' } : chooseRun(segment)
      if (last?.font === font) last.texto += runText
      else runs.push({ font, texto: runText })
    }
    const safeRuns = runs.map(toSafeRun)
    runsByText.set(texto, safeRuns)
    return safeRuns
  }

  function takeTranscribed(): boolean {
    const taken = transcribed
    transcribed = false
    return taken
  }

  return { selectFont, splitRuns, legible, takeTranscribed }
}

const fontOf = (run: TextRun, style: TextStyle): Font =>
  run.font === 'fallback' ? 'fallback' : (style.weight ?? 'normal')

export function createTypography(doc: PDFKit.PDFDocument, alphabet: Alphabet = 'fonts'): Typography {
  const { selectFont, splitRuns, legible, takeTranscribed } = createRuns(doc, alphabet)

  function measure(text: string, style: TextStyle): number {
    let width = 0
    for (const run of splitRuns(text)) {
      selectFont(fontOf(run, style))
      width += doc.fontSize(style.size).widthOfString(run.texto)
      if (style.letterSpacing) width += run.texto.length * style.letterSpacing
    }
    return width
  }

  function write(lines: string[], x: number, y: number, style: TextStyle, writing: TextOptions = {}): number {
    const { ancho = 0, align = 'izquierda' } = writing
    const height = lineHeight(style)
    doc.fillColor(style.color ?? '#000000')
    for (const [i, line] of lines.entries()) {
      const spareWidth = align === 'izquierda' ? 0 : ancho - measure(line, style) + (style.letterSpacing ?? 0)
      let cursor = x + (align === 'centro' ? spareWidth / 2 : spareWidth)
      // Centres the capitals in the height of the line. Content beside the text can then be centred without the font's
      // metrics.
      const base = y + i * height + height / 2 + style.size * 0.357
      for (const run of splitRuns(line)) {
        selectFont(fontOf(run, style))
        doc.fontSize(style.size).text(run.texto, cursor, base, {
          lineBreak: false,
          baseline: 'alphabetic',
          ...(style.letterSpacing ? { characterSpacing: style.letterSpacing } : {}),
        })
        cursor += doc.widthOfString(run.texto) + run.texto.length * (style.letterSpacing ?? 0)
      }
    }
    return y + lines.length * height
  }

  return { measure, ...createLines({ measure, legible }), write, takeTranscribed }
}

/**
 * Puts the words of right-to-left scripts in visual order. The shaper reverses the letters of each word. A complete
 * bidirectional algorithm would need a library, only for a handful of names.
 */
function inVisualOrder(text: string): string {
  if (!RTL.test(text)) return text
  const words = text.split(' ')
  const visual: string[] = []
  for (let i = 0; i < words.length; ) {
    let until = i
    while (until < words.length && RTL.test(words[until]!)) until++
    if (until > i) visual.push(...words.slice(i, until).reverse())
    else visual.push(words[until++]!)
    i = until
  }
  return visual.join(' ')
}
