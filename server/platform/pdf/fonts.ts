import { readFileSync } from 'node:fs'
import { ROOT } from '../root.ts'

/** Font files in `fuentes/`. The README there states their origin and licence. */
const ARCHIVOS = {
  normal: 'OpenSans-Regular.ttf',
  strong: 'OpenSans-SemiBold.ttf',
  /** Font for characters that Open Sans lacks: Arabic, Hebrew, symbols, the more common emoji. */
  fallback: 'DejaVuSansCondensed.ttf',
} as const

export type Font = keyof typeof ARCHIVOS

/** Parsed font inside pdfkit. The types of pdfkit do not declare it. */
interface ParsedFont {
  hasGlyphForCodePoint(codePoint: number): boolean
}

/**
 * Cache of the bytes of fonts. Parsed fonts are not shared: a parsed font remembers the first character of each glyph,
 * and writes that character to the file. A document with a shared font would depend on the documents before it.
 */
const fontBytes = new Map<Font, Buffer>()

/**
 * Selects the current font of a document and returns the parsed font. Reads the file of a font at first use, because
 * most documents never need the third font.
 */
export function useFont(doc: PDFKit.PDFDocument, font: Font, registered: Set<Font>): ParsedFont {
  if (!registered.has(font)) {
    const bytes = fontBytes.get(font) ?? readFileSync(new URL(`server/platform/pdf/fonts/${ARCHIVOS[font]}`, ROOT))
    fontBytes.set(font, bytes)
    doc.registerFont(font, bytes)
    registered.add(font)
  }
  doc.font(font)
  return (doc as unknown as { _font: { font: ParsedFont } })._font.font
}
