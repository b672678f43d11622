import { type Fuente, usarFuente } from './fuentes.ts'

export interface Estilo {
  cuerpo: number
  peso?: 'normal' | 'fuerte'
  color?: string
  /** Line height, in multiples of `cuerpo`. */
  interlineado?: number
  /** Extra space after each character, in points. */
  espaciado?: number
}

export interface Escritura {
  ancho?: number
  alinear?: 'izquierda' | 'centro' | 'derecha'
}

/** What pdfkit's own text layout doesn't do: fonts that stand in for one another, a limit of lines, very long words. */
export interface Tipografia {
  medir(texto: string, estilo: Estilo): number
  /** At most `maximo` lines no wider than `ancho`; what is left over becomes «…». */
  partir(texto: string, estilo: Estilo, ancho: number, maximo: number): string[]
  /**
   * The largest of `cuerpos` (descending) with which the text fits into the box; the smallest one, cut, if none does.
   */
  ajustar(texto: string, estilo: Omit<Estilo, 'cuerpo'>, cuerpos: readonly number[], caja: Caja): Ajustado
  /** @returns the `y` below the last line */
  escribir(lineas: string[], x: number, y: number, estilo: Estilo, escritura?: Escritura): number
}

export interface Caja {
  ancho: number
  alto: number
}

export interface Ajustado {
  lineas: string[]
  estilo: Estilo
  alto: number
}

/** A stretch of text in one font. */
interface Tramo {
  fuente: Fuente
  texto: string
}

const REEMPLAZO = '□'
/**
 * Invisible characters that would only confuse the layout: controls, directions, joiners, variation selectors, tags.
 */
const INVISIBLES =
  /[\p{Cc}\u00AD\u061C\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]|\p{Variation_Selector}/gu
const LATIN = /^[\x20-\x7E\xA1-\xAC\xAE-\xFF]*$/
const RTL = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/
/** More marks than this on one letter are no writing: they would climb over the lines above. */
const MARCAS = 4

const grafemas = new Intl.Segmenter('es', { granularity: 'grapheme' })

/** One line of well-formed text in NFC. */
export const limpiar = (texto: string): string =>
  texto
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\s\u2028\u2029]+/g, ' ')
    .replace(
      /\p{Extended_Pictographic}(?:(?:\uFE0F|[\u{1F3FB}-\u{1F3FF}])*\u200D\p{Extended_Pictographic})+/gu,
      REEMPLAZO,
    )
    .replace(INVISIBLES, '')
    .trim()

export const altoDeLinea = ({ cuerpo, interlineado = 1.34 }: Estilo): number => cuerpo * interlineado

export function crearTipografia(doc: PDFKit.PDFDocument): Tipografia {
  const registradas = new Set<Fuente>()
  const tramosDe = new Map<string, Tramo[]>()
  const usar = (fuente: Fuente) => usarFuente(doc, fuente, registradas)
  const fuenteDe = (tramo: Tramo, estilo: Estilo): Fuente =>
    tramo.fuente === 'otra' ? 'otra' : (estilo.peso ?? 'normal')

  const tiene = (fuente: Fuente, grafema: string): boolean => {
    const abierta = usar(fuente)
    return [...grafema].every((caracter) => abierta.hasGlyphForCodePoint(caracter.codePointAt(0)!))
  }

  const elegir = (grafema: string): Tramo => {
    const texto = [...grafema].slice(0, MARCAS).join('')
    if (LATIN.test(texto) || tiene('normal', texto)) return { fuente: 'normal', texto }
    return { fuente: 'otra', texto: tiene('otra', texto) ? texto : REEMPLAZO }
  }

  /** A shaper that stumbles over a script must not cost the document. */
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
      // A space after a right-to-left word stands alone: pdfkit would shape it with the word and turn it to its other side.
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

  function medir(texto: string, estilo: Estilo): number {
    let ancho = 0
    for (const tramo of tramos(texto)) {
      usar(fuenteDe(tramo, estilo))
      ancho += doc.fontSize(estilo.cuerpo).widthOfString(tramo.texto)
      if (estilo.espaciado) ancho += tramo.texto.length * estilo.espaciado
    }
    return ancho
  }

  /** The longest beginning of `texto` that is no wider than `ancho`, at least one character. */
  function cabe(texto: string, estilo: Estilo, ancho: number): string {
    let hasta = ''
    let usado = 0
    for (const { segment } of grafemas.segment(texto)) {
      usado += medir(segment, estilo)
      if (usado > ancho && hasta) break
      hasta += segment
    }
    return hasta
  }

  function partir(texto: string, estilo: Estilo, ancho: number, maximo: number): string[] {
    const lineas: string[] = []
    const espacio = medir(' ', estilo)
    let linea = ''
    let usado = 0
    const pendientes = limpiar(texto).split(' ').filter(Boolean).reverse()
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
    base: Omit<Estilo, 'cuerpo'>,
    cuerpos: readonly number[],
    { ancho, alto }: Caja,
  ): Ajustado {
    let estilo: Estilo = { ...base, cuerpo: cuerpos.at(-1) ?? 8 }
    for (const cuerpo of cuerpos) {
      estilo = { ...base, cuerpo }
      const caben = Math.floor(alto / altoDeLinea(estilo))
      const lineas = partir(texto, estilo, ancho, caben + 1)
      if (lineas.length <= caben) return { lineas, estilo, alto: lineas.length * altoDeLinea(estilo) }
    }
    const lineas = partir(texto, estilo, ancho, Math.max(1, Math.floor(alto / altoDeLinea(estilo))))
    return { lineas, estilo, alto: lineas.length * altoDeLinea(estilo) }
  }

  function escribir(lineas: string[], x: number, y: number, estilo: Estilo, escritura: Escritura = {}): number {
    const { ancho = 0, alinear = 'izquierda' } = escritura
    const alto = altoDeLinea(estilo)
    doc.fillColor(estilo.color ?? '#000000')
    for (const [i, linea] of lineas.entries()) {
      const sobra = alinear === 'izquierda' ? 0 : ancho - medir(linea, estilo) + (estilo.espaciado ?? 0)
      let cursor = x + (alinear === 'centro' ? sobra / 2 : sobra)
      // The capitals stand in the middle of the line's height: what is beside it can be centred without knowing the font.
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

  return { medir, partir, ajustar, escribir }
}

/**
 * The words of right-to-left scripts in the order in which they stand on paper. The shaper turns the letters of each word;
 * a whole bidirectional algorithm would be a library for a handful of names.
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
