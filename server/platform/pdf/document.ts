import PDFDocument from 'pdfkit'
import { cleanText } from './lines.ts'

export type PdfDocument = PDFKit.PDFDocument

export interface DocumentInfo {
  titulo: string
  autor: string
  asunto: string
  /**
   * Creation time (RFC 3339), the only date in the file. pdfkit computes the file's `/ID` from this date and the texts
   * above.
   */
  creado_en: string
  /** Width and height in points. */
  tamano: [number, number]
  /** True adds a structure tree, for screen readers. */
  etiquetado: boolean
}

/**
 * Creates an empty document without pages, and the promise of its bytes, which resolves after `doc.end()`. The same
 * data gives the same bytes.
 */
export function createDocument(portada: DocumentInfo): { doc: PdfDocument; bytes: Promise<Buffer> } {
  const doc = new PDFDocument({
    size: portada.tamano,
    margin: 0,
    autoFirstPage: false,
    lang: 'es',
    displayTitle: true,
    tagged: portada.etiquetado,
    pdfVersion: '1.7',
    // No default font, which would be Helvetica. pdfkit reads Helvetica's metrics from a file beside its code, and the
    // bundle does not contain this file.
    font: null as unknown as string,
    info: {
      Title: cleanText(portada.titulo),
      Author: cleanText(portada.autor),
      Subject: cleanText(portada.asunto),
      Producer: 'guias',
      Creator: 'guias',
      CreationDate: instante(portada.creado_en),
    },
  })
  const trozos: Buffer[] = []
  const bytes = new Promise<Buffer>((resolver, rechazar) => {
    doc.on('data', (trozo: Buffer) => trozos.push(trozo))
    doc.on('end', () => resolver(Buffer.concat(trozos)))
    doc.on('error', rechazar)
  })
  return { doc, bytes }
}

/** Converts bytes to a Buffer. Bytes from another thread arrive as a Uint8Array, which pdfkit does not accept. */
export const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength)

const instante = (texto: string): Date => {
  const fecha = new Date(texto)
  return Number.isNaN(fecha.getTime()) ? new Date(0) : fecha
}
