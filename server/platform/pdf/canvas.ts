import { type PdfDocument, toBuffer } from './document.ts'
import { cleanText, lineHeight, type TextOptions, type TextStyle, type Typography } from './lines.ts'
import { createTypography } from './text.ts'

/** Colours of a document besides the brand colour: ink, grey, lines, a background tint and warnings. */
export const TONES = {
  tinta: '#17202B',
  gris: '#5A6673',
  linea: '#D5DBE1',
  fondo: '#F4F6F8',
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
   * Draws a paragraph in at most `maximo` lines.
   * @returns the `y` below the paragraph
   */
  parrafo(texto: string, x: number, y: number, estilo: TextStyle, opciones?: Paragraph): number
  /** Returns the height of a paragraph with the same text, style and width. */
  alto(texto: string, estilo: TextStyle, ancho: number, maximo: number): number
  figura(descripcion: string, dibujar: () => void): void
  imagen(descripcion: string, bytes: Uint8Array, x: number, y: number, medida: { ancho: number; alto: number }): void
  adorno(dibujar: () => void): void
  /** Places the content that `dibujar` draws below a structure element, for example a table or a table row. */
  dentro(tipo: 'Table' | 'TR' | 'Sect', dibujar: () => void): void
  regla(x: number, y: number, ancho: number, color?: string, grueso?: number): void
  terminar(): void
}

export interface Paragraph extends TextOptions {
  maximo?: number
  papel?: TagRole
  enlace?: string
}

/** Creates the canvas of a tagged document. */
export function createCanvas(doc: PdfDocument): Canvas {
  const tipografia = createTypography(doc)
  const raiz = doc.struct('Document')
  doc.addStructure(raiz)
  const pila = [raiz]

  const marcado = (papel: TagRole | 'Link', dibujar: () => void, opciones = {}) => {
    const contenido = doc.markStructureContent(papel)
    dibujar()
    doc.endMarkedContent()
    const elemento = doc.struct(papel, opciones)
    elemento.add(contenido)
    pila.at(-1)!.add(elemento)
    return elemento
  }
  /** Adds a link annotation to a structure element. pdfkit supports this, but its types do not declare it. */
  const enlazar = (
    elemento: PDFKit.PDFStructureElement,
    caja: [number, number, number, number],
    url: string,
    texto: string,
  ) => doc.link(...caja, url, { structParent: elemento, Contents: new String(texto) } as object)
  const adorno = (dibujar: () => void) => {
    doc.markContent('Artifact', { type: 'Layout' })
    dibujar()
    doc.endMarkedContent()
  }

  const figura = (descripcion: string, dibujar: () => void) =>
    marcado('Figure', dibujar, { alt: cleanText(descripcion) }).end()

  return {
    ...tipografia,
    doc,
    adorno,
    parrafo(texto, x, y, estilo, { ancho = 500, maximo = 1, papel = 'P', enlace, ...escritura } = {}) {
      const lineas = tipografia.partir(texto, estilo, ancho, maximo)
      let abajo = y
      if (lineas.length === 0) return y
      const elemento = marcado(enlace ? 'Link' : papel, () => {
        abajo = tipografia.escribir(lineas, x, y, estilo, { ancho, ...escritura })
      })
      if (enlace) enlazar(elemento, [x, y, ancho, abajo - y], enlace, cleanText(texto))
      elemento.end()
      return abajo
    },
    alto: (texto, estilo, ancho, maximo) => tipografia.partir(texto, estilo, ancho, maximo).length * lineHeight(estilo),
    figura,
    imagen(descripcion, bytes, x, y, { ancho, alto }) {
      figura(descripcion, () => doc.image(toBuffer(bytes), x, y, { width: ancho, height: alto }))
    },
    dentro(tipo, dibujar) {
      const elemento = doc.struct(tipo)
      pila.at(-1)!.add(elemento)
      pila.push(elemento)
      dibujar()
      pila.pop()
      elemento.end()
    },
    regla: (x, y, ancho, color = TONES.linea, grueso = 0.6) =>
      adorno(() => doc.rect(x, y - grueso / 2, ancho, grueso).fill(color)),
    terminar: () => raiz.end(),
  }
}
