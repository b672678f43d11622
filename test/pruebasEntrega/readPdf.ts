import { inflateSync } from 'node:zlib'

/** A stretch of text and where its baseline begins, in points from the page's lower left corner. */
export interface TextRun {
  texto: string
  x: number
  y: number
  /** From 0. */
  pagina: number
}

export interface ParsedPdf {
  paginas: number
  /** Width and height of the first page. */
  measurement: [number, number]
  chunks: TextRun[]
  /** Everything that is written, in drawing order, one space between stretches. */
  texto: string
  /** The dictionaries of all objects. */
  diccionarios: string
  /** The drawing operators of each page. */
  contenidos: string[]
  /** Where pictures stand, in points from the page's lower edge. */
  images: { pagina: number; bottom: number; top: number }[]
  /** The pictures that were put into the file as JPEG. */
  jpegs: { bytes: Buffer; ancho: number; alto: number }[]
}

/** Reads back what pdfkit writes (and only that): inflates the streams and follows each font's ToUnicode. */
export function leerPdf(pdf: Buffer): ParsedPdf {
  const objetos = new Map<number, { diccionario: string; flujo: string }>()
  const jpegs: ParsedPdf['jpegs'] = []
  const crudo = pdf.toString('latin1')
  for (const hallado of crudo.matchAll(/(?:^|\n)(\d+) 0 obj\n/g)) {
    const inicio = hallado.index + hallado[0].length
    const fin = crudo.indexOf('\nendobj', inicio)
    const corte = crudo.slice(inicio, fin).indexOf('\nstream\n')
    const diccionario = corte < 0 ? crudo.slice(inicio, fin) : crudo.slice(inicio, inicio + corte)
    const largo = Number(/\/Length (\d+)/.exec(diccionario)?.[1] ?? 0)
    const bytes = corte < 0 ? Buffer.alloc(0) : pdf.subarray(inicio + corte + 8, inicio + corte + 8 + largo)
    if (diccionario.includes('/DCTDecode')) {
      const readNumber = (key: string) => Number(new RegExp(`/${key} (\\d+)`).exec(diccionario)![1])
      jpegs.push({ bytes, ancho: readNumber('Width'), alto: readNumber('Height') })
    }
    const flujo = diccionario.includes('/FlateDecode') ? inflateSync(bytes) : bytes
    objetos.set(Number(hallado[1]), { diccionario, flujo: flujo.toString('latin1') })
  }
  const diccionarios = [...objetos.values()].map(({ diccionario }) => diccionario).join('\n')
  const fonts = new Map<string, Map<number, string>>()
  for (const [, nombre, id] of diccionarios.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
    const mapa = /\/ToUnicode (\d+) 0 R/.exec(objetos.get(Number(id))?.diccionario ?? '')?.[1]
    if (mapa) fonts.set(nombre!, leerMapa(objetos.get(Number(mapa))!.flujo))
  }
  const paginas = [...objetos.values()].filter(({ diccionario }) => /\/Type \/Page\n/.test(diccionario))
  const contenidos = paginas.map(
    ({ diccionario }) => objetos.get(Number(/\/Contents (\d+)/.exec(diccionario)![1]))!.flujo,
  )
  const caja = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(diccionarios)!
  const pageSize: [number, number] = [Number(caja[1]), Number(caja[2])]
  const textRuns = contenidos.flatMap((contenido, pagina) => readTextRuns(contenido, fonts, pagina))
  return {
    paginas: paginas.length,
    measurement: pageSize,
    chunks: textRuns,
    texto: textRuns.map(({ texto }) => texto).join(' '),
    diccionarios,
    contenidos,
    jpegs,
    images: contenidos.flatMap((contenido, pagina) =>
      [...contenido.matchAll(/^[\d.]+ 0 0 -([\d.]+) [\d.]+ ([\d.]+) cm\n\/I\d+ Do$/gm)].map(([, alto, y]) => {
        const abajo = pageSize[1] - Number(y)
        return { pagina, bottom: abajo, top: abajo + Number(alto) }
      }),
    ),
  }
}

const utf16 = (hex: string): string =>
  String.fromCharCode(...(hex.match(/.{4}/g) ?? []).map((unidad) => Number.parseInt(unidad, 16)))

function leerMapa(cmap: string): Map<number, string> {
  const mapa = new Map<number, string>()
  for (const [, desde, hexList] of cmap.matchAll(/<([0-9a-f]{4})> <[0-9a-f]{4}> \[([^\]]*)\]/g)) {
    let indice = Number.parseInt(desde!, 16)
    for (const [, hex] of hexList!.matchAll(/<([0-9a-f ]*)>/g)) mapa.set(indice++, utf16(hex!.replaceAll(' ', '')))
  }
  return mapa
}

function readTextRuns(contenido: string, fonts: Map<string, Map<number, string>>, pagina: number): TextRun[] {
  const textRuns: TextRun[] = []
  let fuente = new Map<number, string>()
  let [x, y] = [0, 0]
  for (const linea of contenido.split('\n')) {
    const lugar = /^1 0 0 1 ([-\d.]+) ([-\d.]+) Tm$/.exec(linea)
    if (lugar) [x, y] = [Number(lugar[1]), Number(lugar[2])]
    const elegida = /^\/(F\d+) [\d.]+ Tf$/.exec(linea)
    if (elegida) fuente = fonts.get(elegida[1]!) ?? fuente
    if (!linea.endsWith(' TJ')) continue
    const glifos = [...linea.matchAll(/<([0-9a-f]*)>/g)].flatMap(([, hex]) => hex!.match(/.{4}/g) ?? [])
    textRuns.push({ texto: glifos.map((glifo) => fuente.get(Number.parseInt(glifo, 16)) ?? '').join(''), x, y, pagina })
  }
  return textRuns
}
