import { type Documento, enBuffer } from './documento.ts'
import { altoDeLinea, crearTipografia, type Escritura, type Estilo, limpiar, type Tipografia } from './texto.ts'

/** The few tones of a document, beside the brand's colour: ink, two greys, a tint. */
export const TONOS = {
  tinta: '#17202B',
  gris: '#5A6673',
  linea: '#D5DBE1',
  fondo: '#F4F6F8',
  aviso: '#8A4B08',
} as const

/** What a piece of text is, for a screen reader. */
export type Papel = 'H1' | 'H2' | 'P' | 'Figure' | 'TH' | 'TD' | 'Caption'

/** Draws text and ornaments into a tagged document. Everything is one or the other: an artifact is not read out. */
export interface Lienzo extends Tipografia {
  doc: Documento
  /** Text in at most `maximo` lines. @returns the `y` below it */
  parrafo(texto: string, x: number, y: number, estilo: Estilo, opciones?: Parrafo): number
  /** The height of such a paragraph. */
  alto(texto: string, estilo: Estilo, ancho: number, maximo: number): number
  figura(descripcion: string, dibujar: () => void): void
  imagen(descripcion: string, bytes: Uint8Array, x: number, y: number, medida: { ancho: number; alto: number }): void
  adorno(dibujar: () => void): void
  /** What `dibujar` writes stands below a structure element, such as a table or its row. */
  dentro(tipo: 'Table' | 'TR' | 'Sect', dibujar: () => void): void
  regla(x: number, y: number, ancho: number, color?: string, grueso?: number): void
  terminar(): void
}

export interface Parrafo extends Escritura {
  maximo?: number
  papel?: Papel
  enlace?: string
}

export function crearLienzo(doc: Documento): Lienzo {
  const tipografia = crearTipografia(doc)
  const raiz = doc.struct('Document')
  doc.addStructure(raiz)
  const pila = [raiz]

  const marcado = (papel: Papel | 'Link', dibujar: () => void, opciones = {}) => {
    const contenido = doc.markStructureContent(papel)
    dibujar()
    doc.endMarkedContent()
    const elemento = doc.struct(papel, opciones)
    elemento.add(contenido)
    pila.at(-1)!.add(elemento)
    return elemento
  }
  /** The types don't know that an annotation may belong to a structure element; pdfkit does. */
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
    marcado('Figure', dibujar, { alt: limpiar(descripcion) }).end()

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
      if (enlace) enlazar(elemento, [x, y, ancho, abajo - y], enlace, limpiar(texto))
      elemento.end()
      return abajo
    },
    alto: (texto, estilo, ancho, maximo) =>
      tipografia.partir(texto, estilo, ancho, maximo).length * altoDeLinea(estilo),
    figura,
    imagen(descripcion, bytes, x, y, { ancho, alto }) {
      figura(descripcion, () => doc.image(enBuffer(bytes), x, y, { width: ancho, height: alto }))
    },
    dentro(tipo, dibujar) {
      const elemento = doc.struct(tipo)
      pila.at(-1)!.add(elemento)
      pila.push(elemento)
      dibujar()
      pila.pop()
      elemento.end()
    },
    regla: (x, y, ancho, color = TONOS.linea, grueso = 0.6) =>
      adorno(() => doc.rect(x, y - grueso / 2, ancho, grueso).fill(color)),
    terminar: () => raiz.end(),
  }
}
