import PDFDocument from 'pdfkit'
import { limpiar } from './texto.ts'

export type Documento = PDFKit.PDFDocument

export interface Portada {
  titulo: string
  autor: string
  asunto: string
  /** RFC 3339. The only date in the file: from it and the texts above pdfkit derives the file's /ID. */
  creado_en: string
  /** Width and height in points. */
  tamano: [number, number]
  /** With a structure tree, for screen readers. */
  etiquetado: boolean
}

/**
 * An empty document without a page, and the promise of its bytes (it is fulfilled after `doc.end()`). Same data, same
 * bytes.
 */
export function crearDocumento(portada: Portada): { doc: Documento; bytes: Promise<Buffer> } {
  const doc = new PDFDocument({
    size: portada.tamano,
    margin: 0,
    autoFirstPage: false,
    lang: 'es',
    displayTitle: true,
    tagged: portada.etiquetado,
    pdfVersion: '1.7',
    // No default font: it would be Helvetica, whose metrics pdfkit looks for beside its own code, which the bundle has not.
    font: null as unknown as string,
    info: {
      Title: limpiar(portada.titulo),
      Author: limpiar(portada.autor),
      Subject: limpiar(portada.asunto),
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

/** Bytes that came from another thread are no Buffer any more, and pdfkit takes no others. */
export const enBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength)

const instante = (texto: string): Date => {
  const fecha = new Date(texto)
  return Number.isNaN(fecha.getTime()) ? new Date(0) : fecha
}
