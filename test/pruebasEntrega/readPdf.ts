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
  pageCount: number
  /** Width and height of the first page. */
  measurement: [number, number]
  chunks: TextRun[]
  /** Everything that is written, in drawing order, one space between stretches. */
  texto: string
  /** The dictionaries of all objects. */
  dictionaries: string
  /** The drawing operators of each page. */
  contents: string[]
  /** Where pictures stand, in points from the page's lower edge. */
  images: { pagina: number; bottom: number; top: number }[]
  /** The pictures that were put into the file as JPEG. */
  jpegs: { bytes: Buffer; ancho: number; alto: number }[]
}

/** Reads back what pdfkit writes (and only that): inflates the streams and follows each font's ToUnicode. */
export function parsePdf(pdf: Buffer): ParsedPdf {
  const objects = new Map<number, { dictionary: string; flujo: string }>()
  const jpegs: ParsedPdf['jpegs'] = []
  const rawPdf = pdf.toString('latin1')
  for (const match of rawPdf.matchAll(/(?:^|\n)(\d+) 0 obj\n/g)) {
    const start = match.index + match[0].length
    const end = rawPdf.indexOf('\nendobj', start)
    const streamOffset = rawPdf.slice(start, end).indexOf('\nstream\n')
    const dictionary = streamOffset < 0 ? rawPdf.slice(start, end) : rawPdf.slice(start, start + streamOffset)
    const length = Number(/\/Length (\d+)/.exec(dictionary)?.[1] ?? 0)
    const bytes =
      streamOffset < 0 ? Buffer.alloc(0) : pdf.subarray(start + streamOffset + 8, start + streamOffset + 8 + length)
    if (dictionary.includes('/DCTDecode')) {
      const readNumber = (key: string) => Number(new RegExp(`/${key} (\\d+)`).exec(dictionary)![1])
      jpegs.push({ bytes, ancho: readNumber('Width'), alto: readNumber('Height') })
    }
    const stream = dictionary.includes('/FlateDecode') ? inflateSync(bytes) : bytes
    objects.set(Number(match[1]), { dictionary, flujo: stream.toString('latin1') })
  }
  const dictionaries = [...objects.values()].map(({ dictionary }) => dictionary).join('\n')
  const fonts = new Map<string, Map<number, string>>()
  for (const [, name, id] of dictionaries.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
    const mapa = /\/ToUnicode (\d+) 0 R/.exec(objects.get(Number(id))?.dictionary ?? '')?.[1]
    if (mapa) fonts.set(name!, readCharacterMap(objects.get(Number(mapa))!.flujo))
  }
  const pages = [...objects.values()].filter(({ dictionary }) => /\/Type \/Page\n/.test(dictionary))
  const contents = pages.map(({ dictionary }) => objects.get(Number(/\/Contents (\d+)/.exec(dictionary)![1]))!.flujo)
  const caja = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(dictionaries)!
  const pageSize: [number, number] = [Number(caja[1]), Number(caja[2])]
  const textRuns = contents.flatMap((contenido, page) => readTextRuns(contenido, fonts, page))
  return {
    pageCount: pages.length,
    measurement: pageSize,
    chunks: textRuns,
    texto: textRuns.map(({ texto: text }) => text).join(' '),
    dictionaries,
    contents,
    jpegs,
    images: contents.flatMap((contenido, pagina) =>
      [...contenido.matchAll(/^[\d.]+ 0 0 -([\d.]+) [\d.]+ ([\d.]+) cm\n\/I\d+ Do$/gm)].map(([, height, y]) => {
        const bottom = pageSize[1] - Number(y)
        return { pagina, bottom, top: bottom + Number(height) }
      }),
    ),
  }
}

const utf16 = (hex: string): string =>
  String.fromCharCode(...(hex.match(/.{4}/g) ?? []).map((unidad) => Number.parseInt(unidad, 16)))

function readCharacterMap(cmap: string): Map<number, string> {
  const mapa = new Map<number, string>()
  for (const [, from, hexList] of cmap.matchAll(/<([0-9a-f]{4})> <[0-9a-f]{4}> \[([^\]]*)\]/g)) {
    let index = Number.parseInt(from!, 16)
    for (const [, hex] of hexList!.matchAll(/<([0-9a-f ]*)>/g)) mapa.set(index++, utf16(hex!.replaceAll(' ', '')))
  }
  return mapa
}

function readTextRuns(contenido: string, fonts: Map<string, Map<number, string>>, pagina: number): TextRun[] {
  const textRuns: TextRun[] = []
  let font = new Map<number, string>()
  let [x, y] = [0, 0]
  for (const line of contenido.split('\n')) {
    const place = /^1 0 0 1 ([-\d.]+) ([-\d.]+) Tm$/.exec(line)
    if (place) [x, y] = [Number(place[1]), Number(place[2])]
    const fontMatch = /^\/(F\d+) [\d.]+ Tf$/.exec(line)
    if (fontMatch) font = fonts.get(fontMatch[1]!) ?? font
    if (!line.endsWith(' TJ')) continue
    const glyphs = [...line.matchAll(/<([0-9a-f]*)>/g)].flatMap(([, hex]) => hex!.match(/.{4}/g) ?? [])
    textRuns.push({ texto: glyphs.map((glyph) => font.get(Number.parseInt(glyph, 16)) ?? '').join(''), x, y, pagina })
  }
  return textRuns
}
