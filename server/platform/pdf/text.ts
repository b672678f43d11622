import anyAscii from 'any-ascii'
import { type Font, useFont } from './fonts.ts'

export interface TextStyle {
  cuerpo: number
  peso?: 'normal' | 'fuerte'
  color?: string
  /** Line height, in multiples of `cuerpo`. */
  interlineado?: number
  /** Extra space after each character, in points. */
  espaciado?: number
}

export interface TextOptions {
  ancho?: number
  alinear?: 'izquierda' | 'centro' | 'derecha'
}

/**
 * Text layout that pdfkit does not offer: fallback fonts, a maximum number of lines, and breaks inside very long words.
 */
export interface Typography {
  medir(texto: string, estilo: TextStyle): number
  /**
   * Breaks a text into at most `maximo` lines no wider than `ancho`. «…» replaces the rest of the text. Letters that
   * cannot be shown are transcribed, and the text then ends with {@link TRANSCRIBED}.
   */
  partir(texto: string, estilo: TextStyle, ancho: number, maximo: number): string[]
  /**
   * Finds the largest size of `cuerpos` (descending) at which the text fits into the box. If none fits, uses the
   * smallest size and cuts the text.
   */
  ajustar(texto: string, estilo: Omit<TextStyle, 'cuerpo'>, cuerpos: readonly number[], caja: TextBox): FittedText
  /**
   * Draws lines of text.
   * @returns the `y` below the last line
   */
  escribir(lineas: string[], x: number, y: number, estilo: TextStyle, escritura?: TextOptions): number
  /** Reports whether a text was transcribed since the last call. */
  takeTranscribed(): boolean
}

/** Mark at the end of a transcribed text. */
export const TRANSCRIBED = '*'

/** `latin`: letters of other scripts are transcribed. `fonts`: only letters that no font has. */
export type Alphabet = 'latin' | 'fonts'

export interface TextBox {
  ancho: number
  alto: number
}

export interface FittedText {
  lineas: string[]
  estilo: TextStyle
  alto: number
}

/** Run of text in one font. */
interface Tramo {
  fuente: Font
  texto: string
}

const REEMPLAZO = '□'
/** Invisible characters that would disturb the layout: controls, directions, joiners, variation selectors, tags. */
const INVISIBLES =
  /[\p{Cc}\u00AD\u061C\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]|\p{Variation_Selector}/gu
/** Letters and digits that a reader of Latin script does not know. */
const FOREIGN = /(?=[\p{L}\p{M}\p{N}])[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]|(?![0-9])\p{Nd}/u
const LATIN = /^[\x20-\x7E\xA1-\xAC\xAE-\xFF]*$/
const RTL = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/
/**
 * Maximum number of characters per grapheme. A letter with more marks is not real text, and the marks would cover the
 * lines above.
 */
const MARCAS = 4

const grafemas = new Intl.Segmenter('es', { granularity: 'grapheme' })

/** Converts a text to one line of well-formed Unicode in NFC. Removes invisible characters and the skin tone of emoji. */
export const cleanText = (texto: string): string =>
  texto
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\s\u2028\u2029]+/g, ' ')
    .replace(/\p{Emoji_Modifier}/gu, '')
    .replace(INVISIBLES, '')
    .trim()

export const lineHeight = ({ cuerpo, interlineado = 1.34 }: TextStyle): number => cuerpo * interlineado

/** Writes a grapheme with ASCII. The mark for an Arabic or Hebrew letter without a Latin counterpart is left out. */
const inAscii = (grafema: string): string => (anyAscii(grafema) || REEMPLAZO).replace(/[`\s]+/g, '')

export function createTypography(doc: PDFKit.PDFDocument, alphabet: Alphabet = 'fonts'): Typography {
  let transcribed = false
  const registradas = new Set<Font>()
  const tramosDe = new Map<string, Tramo[]>()
  const usar = (fuente: Font) => useFont(doc, fuente, registradas)
  const fuenteDe = (tramo: Tramo, estilo: TextStyle): Font =>
    tramo.fuente === 'otra' ? 'otra' : (estilo.peso ?? 'normal')

  const tiene = (fuente: Font, grafema: string): boolean => {
    const abierta = usar(fuente)
    return [...grafema].every((caracter) => abierta.hasGlyphForCodePoint(caracter.codePointAt(0)!))
  }

  const elegir = (grafema: string): Tramo => {
    const texto = [...grafema].slice(0, MARCAS).join('')
    if (LATIN.test(texto) || tiene('normal', texto)) return { fuente: 'normal', texto }
    return { fuente: 'otra', texto: tiene('otra', texto) ? texto : REEMPLAZO }
  }

  /** Transcribes the letters and emoji that the reader or the fonts do not know. */
  function legible(texto: string): string {
    if (LATIN.test(texto)) return texto
    const escrito = [...grafemas.segment(texto)].map(({ segment }) => {
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
      return { fuente: 'otra', texto: REEMPLAZO }
    }
  }

  function tramos(texto: string): Tramo[] {
    if (LATIN.test(texto)) return [{ fuente: 'normal', texto }]
    const conocidos = tramosDe.get(texto)
    if (conocidos) return conocidos
    const hechos: Tramo[] = []
    for (const { segment } of grafemas.segment(enOrdenVisual(texto))) {
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

  function medir(texto: string, estilo: TextStyle): number {
    let ancho = 0
    for (const tramo of tramos(texto)) {
      usar(fuenteDe(tramo, estilo))
      ancho += doc.fontSize(estilo.cuerpo).widthOfString(tramo.texto)
      if (estilo.espaciado) ancho += tramo.texto.length * estilo.espaciado
    }
    return ancho
  }

  /** Returns the longest beginning of `texto` that is no wider than `ancho`, but at least one character. */
  function cabe(texto: string, estilo: TextStyle, ancho: number): string {
    let hasta = ''
    let usado = 0
    for (const { segment } of grafemas.segment(texto)) {
      usado += medir(segment, estilo)
      if (usado > ancho && hasta) break
      hasta += segment
    }
    return hasta
  }

  function partir(texto: string, estilo: TextStyle, ancho: number, maximo: number): string[] {
    const lineas: string[] = []
    const espacio = medir(' ', estilo)
    let linea = ''
    let usado = 0
    const pendientes = legible(cleanText(texto)).split(' ').filter(Boolean).reverse()
    while (pendientes.length > 0 && lineas.length <= maximo) {
      const palabra = pendientes.pop()!
      const mide = medir(palabra, estilo)
      if (linea && usado + espacio + mide <= ancho) {
        linea += ` ${palabra}`
        usado += espacio + mide
        continue
      }
      if (linea) lineas.push(linea)
      linea = mide <= ancho ? palabra : cabe(palabra, estilo, ancho)
      usado = mide
      if (linea !== palabra) {
        lineas.push(linea)
        pendientes.push(palabra.slice(linea.length))
        linea = ''
      }
    }
    if (linea) lineas.push(linea)
    if (lineas.length <= maximo) return lineas
    const cortadas = lineas.slice(0, maximo)
    const ultima = cabe(cortadas.at(-1)!, estilo, ancho - medir('…', estilo)).trimEnd()
    return [...cortadas.slice(0, -1), `${ultima}…`]
  }

  function ajustar(
    texto: string,
    base: Omit<TextStyle, 'cuerpo'>,
    cuerpos: readonly number[],
    { ancho, alto }: TextBox,
  ): FittedText {
    let estilo: TextStyle = { ...base, cuerpo: cuerpos.at(-1) ?? 8 }
    for (const cuerpo of cuerpos) {
      estilo = { ...base, cuerpo }
      const caben = Math.floor(alto / lineHeight(estilo))
      const lineas = partir(texto, estilo, ancho, caben + 1)
      if (lineas.length <= caben) return { lineas, estilo, alto: lineas.length * lineHeight(estilo) }
    }
    const lineas = partir(texto, estilo, ancho, Math.max(1, Math.floor(alto / lineHeight(estilo))))
    return { lineas, estilo, alto: lineas.length * lineHeight(estilo) }
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

  function takeTranscribed(): boolean {
    const taken = transcribed
    transcribed = false
    return taken
  }

  return { medir, partir, ajustar, escribir, takeTranscribed }
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
