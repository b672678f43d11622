import { inflateSync } from 'node:zlib'

/** A stretch of text and where its baseline begins, in points from the page's lower left corner. */
export interface Trozo {
  texto: string
  x: number
  y: number
  /** From 0. */
  pagina: number
}

export interface PdfLeido {
  paginas: number
  /** Width and height of the first page. */
  medida: [number, number]
  trozos: Trozo[]
  /** Everything that is written, in drawing order, one space between stretches. */
  texto: string
  /** The dictionaries of all objects. */
  diccionarios: string
  /** The drawing operators of each page. */
  contenidos: string[]
}

/** Reads back what pdfkit writes (and only that): inflates the streams and follows each font's ToUnicode. */
export function leerPdf(pdf: Buffer): PdfLeido {
  const objetos = new Map<number, { diccionario: string; flujo: string }>()
  const crudo = pdf.toString('latin1')
  for (const hallado of crudo.matchAll(/(?:^|\n)(\d+) 0 obj\n/g)) {
    const inicio = hallado.index + hallado[0].length
    const fin = crudo.indexOf('\nendobj', inicio)
    const corte = crudo.slice(inicio, fin).indexOf('\nstream\n')
    const diccionario = corte < 0 ? crudo.slice(inicio, fin) : crudo.slice(inicio, inicio + corte)
    const largo = Number(/\/Length (\d+)/.exec(diccionario)?.[1] ?? 0)
    const bytes = corte < 0 ? Buffer.alloc(0) : pdf.subarray(inicio + corte + 8, inicio + corte + 8 + largo)
    const flujo = diccionario.includes('/FlateDecode') ? inflateSync(bytes) : bytes
    objetos.set(Number(hallado[1]), { diccionario, flujo: flujo.toString('latin1') })
  }
  const diccionarios = [...objetos.values()].map(({ diccionario }) => diccionario).join('\n')
  const fuentes = new Map<string, Map<number, string>>()
  for (const [, nombre, id] of diccionarios.matchAll(/\/(F\d+) (\d+) 0 R/g)) {
    const mapa = /\/ToUnicode (\d+) 0 R/.exec(objetos.get(Number(id))?.diccionario ?? '')?.[1]
    if (mapa) fuentes.set(nombre!, leerMapa(objetos.get(Number(mapa))!.flujo))
  }
  const paginas = [...objetos.values()].filter(({ diccionario }) => /\/Type \/Page\n/.test(diccionario))
  const contenidos = paginas.map(
    ({ diccionario }) => objetos.get(Number(/\/Contents (\d+)/.exec(diccionario)![1]))!.flujo,
  )
  const caja = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(diccionarios)!
  const trozos = contenidos.flatMap((contenido, pagina) => leerTrozos(contenido, fuentes, pagina))
  return {
    paginas: paginas.length,
    medida: [Number(caja[1]), Number(caja[2])],
    trozos,
    texto: trozos.map(({ texto }) => texto).join(' '),
    diccionarios,
    contenidos,
  }
}

const utf16 = (hex: string): string =>
  String.fromCharCode(...(hex.match(/.{4}/g) ?? []).map((unidad) => Number.parseInt(unidad, 16)))

function leerMapa(cmap: string): Map<number, string> {
  const mapa = new Map<number, string>()
  for (const [, desde, lista] of cmap.matchAll(/<([0-9a-f]{4})> <[0-9a-f]{4}> \[([^\]]*)\]/g)) {
    let indice = Number.parseInt(desde!, 16)
    for (const [, hex] of lista!.matchAll(/<([0-9a-f ]*)>/g)) mapa.set(indice++, utf16(hex!.replaceAll(' ', '')))
  }
  return mapa
}

function leerTrozos(contenido: string, fuentes: Map<string, Map<number, string>>, pagina: number): Trozo[] {
  const trozos: Trozo[] = []
  let fuente = new Map<number, string>()
  let [x, y] = [0, 0]
  for (const linea of contenido.split('\n')) {
    const lugar = /^1 0 0 1 ([-\d.]+) ([-\d.]+) Tm$/.exec(linea)
    if (lugar) [x, y] = [Number(lugar[1]), Number(lugar[2])]
    const elegida = /^\/(F\d+) [\d.]+ Tf$/.exec(linea)
    if (elegida) fuente = fuentes.get(elegida[1]!) ?? fuente
    if (!linea.endsWith(' TJ')) continue
    const glifos = [...linea.matchAll(/<([0-9a-f]*)>/g)].flatMap(([, hex]) => hex!.match(/.{4}/g) ?? [])
    trozos.push({ texto: glifos.map((glifo) => fuente.get(Number.parseInt(glifo, 16)) ?? '').join(''), x, y, pagina })
  }
  return trozos
}
