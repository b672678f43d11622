import PDFDocument from 'pdfkit'
import { cleanText } from './lines.ts'

export type PdfDocument = PDFKit.PDFDocument

export interface DocumentInfo {
  titulo: string
  autor: string
  subject: string
  /**
   * Creation time (RFC 3339), the only date in the file. pdfkit computes the file's `/ID` from this date and the texts
   * above.
   */
  creado_en: string
  /** Width and height in points. */
  size: [number, number]
  /** True adds a structure tree, for screen readers. */
  tagged: boolean
}

/**
 * Creates an empty document without pages, and the promise of its bytes, which resolves after `doc.end()`. The same
 * data gives the same bytes.
 */
export function createDocument(info: DocumentInfo): { doc: PdfDocument; bytes: Promise<Buffer> } {
  const doc = new PDFDocument({
    size: info.size,
    margin: 0,
    autoFirstPage: false,
    lang: 'es',
    displayTitle: true,
    tagged: info.tagged,
    pdfVersion: '1.7',
    // No default font, which would be Helvetica. pdfkit reads Helvetica's metrics from a file beside its code, and the
    // bundle does not contain this file.
    font: null as unknown as string,
    info: {
      Title: cleanText(info.titulo),
      Author: cleanText(info.autor),
      Subject: cleanText(info.subject),
      Producer: 'guias',
      Creator: 'guias',
      CreationDate: instantOf(info.creado_en),
    },
  })
  const chunks: Buffer[] = []
  const bytes = new Promise<Buffer>((resolver, reject) => {
    doc.on('data', (chunk: Buffer) => chunks.push(chunk))
    doc.on('end', () => resolver(Buffer.concat(chunks)))
    doc.on('error', reject)
  })
  return { doc, bytes }
}

/** Converts bytes to a Buffer. Bytes from another thread arrive as a Uint8Array, which pdfkit does not accept. */
export const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength)

/** Adds a picture to a document without drawing it. The result can be drawn any number of times. */
export function openImage(doc: PdfDocument, bytes: Uint8Array): PDFKit.Mixins.ImageSrc {
  // The types of PDFKit lack `openImage`.
  const { openImage: open } = doc as unknown as { openImage(bytes: Buffer): PDFKit.Mixins.ImageSrc }
  return open.call(doc, toBuffer(bytes))
}

const instantOf = (text: string): Date => {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? new Date(0) : date
}
