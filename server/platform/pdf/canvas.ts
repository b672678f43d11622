import { openImage as openOnce, type PdfDocument } from './document.ts'
import { cleanText, lineHeight, type TextOptions, type TextStyle, type Typography } from './lines.ts'
import { createTypography } from './text.ts'

/** Colours of a document besides the brand colour: ink, grey, lines, a background tint and warnings. */
export const TONES = {
  ink: '#17202B',
  grey: '#5A6673',
  linea: '#D5DBE1',
  background: '#F4F6F8',
  aviso: '#8A4B08',
} as const

/** Structure type of a content, for screen readers. */
export type TagRole = 'H1' | 'H2' | 'P' | 'Figure' | 'TH' | 'TD' | 'Caption'

/**
 * Draws text and ornaments into a tagged document. All content is either a structure element or an artifact, which
 * screen readers skip.
 */
export interface Canvas extends Typography {
  doc: PdfDocument
  /**
   * Draws a paragraph in at most `max` lines.
   * @returns the `y` below the paragraph
   */
  paragraph(text: string, x: number, y: number, style: TextStyle, options?: Paragraph): number
  /** Returns the height of a paragraph with the same text, style and width. */
  alto(text: string, style: TextStyle, width: number, max: number): number
  figure(descripcion: string, draw: () => void): void
  /** Draws a picture. The document contains the bytes once, however often they are drawn. */
  image(descripcion: string, bytes: Uint8Array, x: number, y: number, size: { ancho: number; alto: number }): void
  artifact(draw: () => void): void
  /** Places the content that `draw` draws below a structure element, for example a table or a table row. */
  within(type: 'Table' | 'TR' | 'Sect', draw: () => void): void
  rule(x: number, y: number, width: number, color?: string, thickness?: number): void
  finish(): void
}

export interface Paragraph extends TextOptions {
  max?: number
  role?: TagRole
  enlace?: string
}

/** Creates a canvas that draws content and adds it to the document's structure, as tagged PDF needs. */
export function createCanvas(doc: PdfDocument): Canvas {
  const typography = createTypography(doc)
  const root = doc.struct('Document')
  doc.addStructure(root)
  const stack = [root]

  const markContent = (role: TagRole | 'Link', draw: () => void, options = {}) => {
    const content = doc.markStructureContent(role)
    draw()
    doc.endMarkedContent()
    const element = doc.struct(role, options)
    element.add(content)
    stack.at(-1)!.add(element)
    return element
  }
  /** Adds a link annotation to a structure element. pdfkit supports this, but its types do not declare it. */
  const addLink = (
    element: PDFKit.PDFStructureElement,
    box: [number, number, number, number],
    url: string,
    text: string,
  ) => doc.link(...box, url, { structParent: element, Contents: new String(text) } as object)
  const artifact = (draw: () => void) => {
    doc.markContent('Artifact', { type: 'Layout' })
    draw()
    doc.endMarkedContent()
  }

  const openedImages = new Map<Uint8Array, PDFKit.Mixins.ImageSrc>()
  const openImage = (bytes: Uint8Array) => {
    const opened = openedImages.get(bytes) ?? openOnce(doc, bytes)
    openedImages.set(bytes, opened)
    return opened
  }

  const figure = (descripcion: string, draw: () => void) =>
    markContent('Figure', draw, { alt: cleanText(descripcion) }).end()

  return {
    ...typography,
    doc,
    artifact,
    paragraph(text, x, y, style, { ancho = 500, max = 1, role = 'P', enlace, ...writing } = {}) {
      const lines = typography.split(text, style, ancho, max)
      let bottom = y
      if (lines.length === 0) return y
      const element = markContent(enlace ? 'Link' : role, () => {
        bottom = typography.write(lines, x, y, style, { ancho, ...writing })
      })
      if (enlace) addLink(element, [x, y, ancho, bottom - y], enlace, cleanText(text))
      element.end()
      return bottom
    },
    alto: (text, style, width, max) => typography.split(text, style, width, max).length * lineHeight(style),
    figure,
    image(descripcion, bytes, x, y, { ancho, alto }) {
      figure(descripcion, () => doc.image(openImage(bytes), x, y, { width: ancho, height: alto }))
    },
    within(type, draw) {
      const element = doc.struct(type)
      stack.at(-1)!.add(element)
      stack.push(element)
      draw()
      stack.pop()
      element.end()
    },
    rule: (x, y, width, color = TONES.linea, thickness = 0.6) =>
      artifact(() => doc.rect(x, y - thickness / 2, width, thickness).fill(color)),
    finish: () => root.end(),
  }
}
