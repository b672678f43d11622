import anyAscii from 'any-ascii'

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

export interface TextBox {
  ancho: number
  alto: number
}

export interface FittedText {
  lineas: string[]
  estilo: TextStyle
  alto: number
}

/** Character that stands for one that cannot be shown. */
export const REPLACEMENT = '□'
/** Invisible characters that would disturb the layout: controls, directions, joiners, variation selectors, tags. */
const INVISIBLES =
  /[\p{Cc}\u00AD\u061C\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]|\p{Variation_Selector}/gu
/** Letters and digits that a reader of Latin script does not know. */
export const FOREIGN = /(?=[\p{L}\p{M}\p{N}])[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]|(?![0-9])\p{Nd}/u

/** Splits texts into the characters that a reader sees. */
export const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' })

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
export const inAscii = (grafema: string): string => (anyAscii(grafema) || REPLACEMENT).replace(/[`\s]+/g, '')

/** Parts of a text layout that depend on the fonts. */
interface Fonts {
  medir: Typography['medir']
  /** Transcribes the letters that cannot be shown. */
  legible: (texto: string) => string
}

/** Returns the functions that break texts into lines, for any fonts. */
export function createLines({ medir, legible }: Fonts): Pick<Typography, 'partir' | 'ajustar'> {
  /** Returns the longest beginning of `texto` that is no wider than `ancho`, but at least one character. */
  function cabe(texto: string, estilo: TextStyle, ancho: number): string {
    let hasta = ''
    let usado = 0
    for (const { segment } of graphemes.segment(texto)) {
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

  return { partir, ajustar }
}
