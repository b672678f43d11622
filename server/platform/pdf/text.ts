import { type Font, useFont } from './fonts.ts'
import {
  createLines,
  FOREIGN,
  graphemes,
  inAscii,
  lineHeight,
  REPLACEMENT,
  type TextOptions,
  type TextStyle,
  TRANSCRIBED,
  type Typography,
} from './lines.ts'

/** `latin`: letters of other scripts are transcribed. `fonts`: only letters that no font has. */
export type Alphabet = 'latin' | 'fonts'

/** Run of text in one font. */
interface Tramo {
  fuente: Font
  texto: string
}

const LATIN = /^[\x20-\x7E\xA1-\xAC\xAE-\xFF]*$/
const RTL = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/
/**
 * Maximum number of characters per grapheme. A letter with more marks is not real text, and the marks would cover the
 * lines above.
 */
const MARCAS = 4

/** Splits texts into runs that a font can write, and replaces what no font has. */
function createRuns(doc: PDFKit.PDFDocument, alphabet: Alphabet) {
  let transcribed = false
  const registradas = new Set<Font>()
  const tramosDe = new Map<string, Tramo[]>()
  const usar = (fuente: Font) => useFont(doc, fuente, registradas)
  const tiene = (fuente: Font, grafema: string): boolean => {
    const abierta = usar(fuente)
    return [...grafema].every((caracter) => abierta.hasGlyphForCodePoint(caracter.codePointAt(0)!))
  }

  const elegir = (grafema: string): Tramo => {
    const texto = [...grafema].slice(0, MARCAS).join('')
    if (LATIN.test(texto) || tiene('normal', texto)) return { fuente: 'normal', texto }
    return { fuente: 'otra', texto: tiene('otra', texto) ? texto : REPLACEMENT }
  }

  /** Transcribes the letters and emoji that the reader or the fonts do not know. */
  function legible(texto: string): string {
    if (LATIN.test(texto)) return texto
    const escrito = [...graphemes.segment(texto)].map(({ segment }) => {
      const ajeno = alphabet === 'latin' && FOREIGN.test(segment)
      return ajeno || !(tiene('normal', segment) || tiene('otra', segment)) ? inAscii(segment) : segment
    })
    const visible = escrito.join('')
    if (visible === texto) return texto
    transcribed = true
    return visible + TRANSCRIBED
  }

  /** Replaces a run by `□` if the font's shaper fails on its script, so that the document is still created. */
  const sano = (tramo: Tramo): Tramo => {
    try {
      usar(tramo.fuente)
      doc.fontSize(10).widthOfString(tramo.texto)
      return tramo
    } catch {
      return { fuente: 'otra', texto: REPLACEMENT }
    }
  }

  function tramos(texto: string): Tramo[] {
    if (LATIN.test(texto)) return [{ fuente: 'normal', texto }]
    const conocidos = tramosDe.get(texto)
    if (conocidos) return conocidos
    const hechos: Tramo[] = []
    for (const { segment } of graphemes.segment(enOrdenVisual(texto))) {
      const ultimo = hechos.at(-1)
      // A space after a right-to-left word becomes a run of its own. Otherwise pdfkit would shape the space with the
      // word and move it to the other side.
      const aparte = segment === ' ' && ultimo && RTL.test(ultimo.texto)
      const { fuente, texto: propio } =
        segment === ' ' && ultimo && !aparte ? { ...ultimo, texto: ' ' } : elegir(segment)
      if (ultimo?.fuente === fuente) ultimo.texto += propio
      else hechos.push({ fuente, texto: propio })
    }
    const sanos = hechos.map(sano)
    tramosDe.set(texto, sanos)
    return sanos
  }

  function takeTranscribed(): boolean {
    const taken = transcribed
    transcribed = false
    return taken
  }

  return { usar, tramos, legible, takeTranscribed }
}

const fuenteDe = (tramo: Tramo, estilo: TextStyle): Font =>
  tramo.fuente === 'otra' ? 'otra' : (estilo.peso ?? 'normal')

export function createTypography(doc: PDFKit.PDFDocument, alphabet: Alphabet = 'fonts'): Typography {
  const { usar, tramos, legible, takeTranscribed } = createRuns(doc, alphabet)

  function medir(texto: string, estilo: TextStyle): number {
    let ancho = 0
    for (const tramo of tramos(texto)) {
      usar(fuenteDe(tramo, estilo))
      ancho += doc.fontSize(estilo.cuerpo).widthOfString(tramo.texto)
      if (estilo.espaciado) ancho += tramo.texto.length * estilo.espaciado
    }
    return ancho
  }

  function escribir(lineas: string[], x: number, y: number, estilo: TextStyle, escritura: TextOptions = {}): number {
    const { ancho = 0, alinear = 'izquierda' } = escritura
    const alto = lineHeight(estilo)
    doc.fillColor(estilo.color ?? '#000000')
    for (const [i, linea] of lineas.entries()) {
      const sobra = alinear === 'izquierda' ? 0 : ancho - medir(linea, estilo) + (estilo.espaciado ?? 0)
      let cursor = x + (alinear === 'centro' ? sobra / 2 : sobra)
      // Centres the capitals in the height of the line. Content beside the text can then be centred without the font's
      // metrics.
      const base = y + i * alto + alto / 2 + estilo.cuerpo * 0.357
      for (const tramo of tramos(linea)) {
        usar(fuenteDe(tramo, estilo))
        doc.fontSize(estilo.cuerpo).text(tramo.texto, cursor, base, {
          lineBreak: false,
          baseline: 'alphabetic',
          ...(estilo.espaciado ? { characterSpacing: estilo.espaciado } : {}),
        })
        cursor += doc.widthOfString(tramo.texto) + tramo.texto.length * (estilo.espaciado ?? 0)
      }
    }
    return y + lineas.length * alto
  }

  return { medir, ...createLines({ medir, legible }), escribir, takeTranscribed }
}

/**
 * Puts the words of right-to-left scripts in visual order. The shaper reverses the letters of each word. A complete
 * bidirectional algorithm would need a library, only for a handful of names.
 */
function enOrdenVisual(texto: string): string {
  if (!RTL.test(texto)) return texto
  const palabras = texto.split(' ')
  const visual: string[] = []
  for (let i = 0; i < palabras.length; ) {
    let hasta = i
    while (hasta < palabras.length && RTL.test(palabras[hasta]!)) hasta++
    if (hasta > i) visual.push(...palabras.slice(i, hasta).reverse())
    else visual.push(palabras[hasta++]!)
    i = hasta
  }
  return visual.join(' ')
}
