import { readFileSync } from 'node:fs'
import { RAIZ } from '../contrato/raiz.ts'

/** The files of `fuentes/`; where they come from and under which licence stands in its README. */
const ARCHIVOS = {
  normal: 'OpenSans-Regular.ttf',
  fuerte: 'OpenSans-SemiBold.ttf',
  /** For what Open Sans lacks: Arabic, Hebrew, symbols, the commoner emoji. */
  otra: 'DejaVuSansCondensed.ttf',
} as const

export type Fuente = keyof typeof ARCHIVOS

/** What pdfkit holds of a font that it has parsed; its types don't show it. */
interface Abierta {
  hasGlyphForCodePoint(punto: number): boolean
}

/**
 * Only the bytes are kept. A parsed font remembers for which character it first made each glyph, and that gets into the
 * file: documents that shared it would depend on those before them.
 */
const leidas = new Map<Fuente, Buffer>()

/** Makes a font the document's current one. Fonts are read when first used: most documents never need the third. */
export function usarFuente(doc: PDFKit.PDFDocument, fuente: Fuente, registradas: Set<Fuente>): Abierta {
  if (!registradas.has(fuente)) {
    const bytes = leidas.get(fuente) ?? readFileSync(new URL(`server/pdf/fuentes/${ARCHIVOS[fuente]}`, RAIZ))
    leidas.set(fuente, bytes)
    doc.registerFont(fuente, bytes)
    registradas.add(fuente)
  }
  doc.font(fuente)
  return (doc as unknown as { _font: { font: Abierta } })._font.font
}
