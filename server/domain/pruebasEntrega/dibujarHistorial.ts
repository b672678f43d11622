import { type Canvas, TONES } from '../../platform/pdf/canvas.ts'
import { lineHeight } from '../../platform/pdf/lines.ts'
import type { Hito } from './contenidoDelPdf.ts'
import { ANCHO, coordenadas, MENOR, type PaginaDelPdf, SIN_DATO, TEXTO, TITULO, X } from './hojaDelPdf.ts'

const COLUMNAS = [
  { titulo: 'Fecha', x: X, ancho: 112 },
  { titulo: 'Estado', x: X + 122, ancho: 218 },
  { titulo: 'Lugar', x: X + 350, ancho: ANCHO - 350 },
] as const
const CELDA = { ...TEXTO, cuerpo: 8.4 }
const HUECO = 5
const LINEA = lineHeight(CELDA) + HUECO
/** Height of the table's title, its header row and the space below it, in points. */
const ALREDEDOR = 48

/** Measured row of the table of events. */
export interface FilaDeHistorial {
  textos: string[]
  alto: number
}

/** Returns the measured rows of the guide's events. */
export function filasDeHistorial({ lienzo, datos, reloj }: PaginaDelPdf): FilaDeHistorial[] {
  const celdas = (hito: Hito) => [
    reloj.corta(hito.ocurrido_en),
    hito.descripcion.trim() || SIN_DATO,
    hito.lugar?.trim() || coordenadas(hito) || SIN_DATO,
  ]
  const alto = (textos: string[]) =>
    Math.max(...textos.map((texto, i) => lienzo.alto(texto, CELDA, COLUMNAS[i]!.ancho, 2)), lineHeight(CELDA)) + HUECO
  // Two pages hold far fewer than 200 rows, so measuring more would be wasted.
  return acortarA(datos.historial, 200).map((hito) => {
    const textos = typeof hito === 'number' ? filaOmitida(hito).textos : celdas(hito)
    return { textos, alto: alto(textos) }
  })
}

const acortarA = (hitos: Hito[], maximo: number): (Hito | number)[] =>
  hitos.length <= maximo ? hitos : [...hitos.slice(0, maximo / 2), hitos.length - maximo, ...hitos.slice(-maximo / 2)]

/** Returns the height of the table with these rows, in points. */
export const altoDeHistorial = (filas: FilaDeHistorial[]): number =>
  filas.length === 0 ? 0 : ALREDEDOR + filas.reduce((suma, { alto }) => suma + alto, 0)

/** Minimum rows at the end of a page, and minimum rows carried over to the next; fewer look like an accident. */
const POCAS = { alFinal: 3, alSeguir: 4 }

/**
 * `primera`, `segunda`: points that each page has left for the table. `crece`: points by which the content below the
 * table on the second page could still grow.
 */
interface Paginas {
  primera: number
  segunda: number
  crece: number
}

/**
 * Maximum points of a page that may stay empty: `partida` if the table is split between pages, `junta` if it stays
 * together. Both are below a third of the page.
 */
const VACIO = { partida: 180, junta: 230 }

/**
 * Splits the rows between the two pages. Puts as many rows as possible on the first page if neither page stays too
 * empty. Otherwise keeps the larger of the two empty areas as small as possible.
 */
export function repartir(
  filas: FilaDeHistorial[],
  { primera, segunda, crece }: Paginas,
): [FilaDeHistorial[], FilaDeHistorial[]] {
  const total = filas.length
  const cortes = Array.from({ length: total + 1 }, (_, cuantas) => cuantas)
    .filter((n) => n === 0 || n === total || (n >= POCAS.alFinal && n <= total - POCAS.alSeguir))
    .filter((n) => altoDeHistorial(filas.slice(0, n)) <= primera)
  const vacio = (n: number) =>
    Math.max(primera - altoDeHistorial(filas.slice(0, n)), segunda - altoDeHistorial(filas.slice(n)) - crece)
  const corte =
    cortes.findLast((n) => vacio(n) <= (n === total ? VACIO.junta : VACIO.partida)) ??
    cortes.reduce((mejor, n) => (vacio(n) <= vacio(mejor) ? n : mejor), 0)
  return [filas.slice(0, corte), acortar(filas.slice(corte), segunda - ALREDEDOR)]
}

/**
 * Shortens rows that do not all fit. Keeps the first row and the last rows, which tell most, and a line with the number
 * of rows left out.
 */
function acortar(filas: FilaDeHistorial[], alto: number): FilaDeHistorial[] {
  const [primera, ...otras] = filas
  if (!primera || filas.reduce((suma, fila) => suma + fila.alto, 0) <= alto) return filas
  const finales: FilaDeHistorial[] = []
  let queda = alto - LINEA - primera.alto
  for (const fila of otras.toReversed()) {
    if (fila.alto > queda && finales.length > 0) break
    queda -= fila.alto
    finales.unshift(fila)
  }
  const faltan = otras.length - finales.length
  return faltan === 0 ? filas : [primera, filaOmitida(faltan), ...finales]
}

const filaOmitida = (cuantos: number): FilaDeHistorial => ({
  textos: ['', cuantos === 1 ? '… 1 evento más …' : `… ${cuantos} eventos más …`, ''],
  alto: LINEA,
})

/** Draws the table of events. Returns the vertical position of the next part. */
export function historial(
  { lienzo, datos, reloj }: PaginaDelPdf,
  filas: FilaDeHistorial[],
  y: number,
  titulo = 'Historial',
): number {
  if (filas.length === 0) return y
  let abajo = lienzo.parrafo(titulo, X, y, TITULO, { papel: 'H2' }) + 1
  const nota = `Horas en ${reloj.zona(datos.entregado_en)}`
  lienzo.parrafo(nota, X + ANCHO - 260, abajo - 14, MENOR, { ancho: 260, alinear: 'derecha' })
  lienzo.dentro('Table', () => {
    abajo = cabecera(lienzo, abajo + 3)
    for (const fila of filas) abajo = filaDeHistorial(lienzo, fila, abajo)
  })
  return abajo + 18
}

function cabecera(lienzo: Canvas, y: number): number {
  let abajo = y
  lienzo.dentro('TR', () => {
    for (const { titulo, x, ancho } of COLUMNAS)
      abajo = lienzo.parrafo(titulo, x, y, { ...MENOR, peso: 'fuerte' }, { ancho, papel: 'TH' })
  })
  lienzo.regla(X, abajo + 2, ANCHO, TONES.tinta, 0.8)
  return abajo + 3
}

function filaDeHistorial(lienzo: Canvas, { textos, alto }: FilaDeHistorial, y: number): number {
  lienzo.dentro('TR', () => {
    for (const [i, texto] of textos.entries()) {
      const { x, ancho } = COLUMNAS[i]!
      const estilo = { ...CELDA, color: i === 1 ? TONES.tinta : TONES.gris }
      lienzo.parrafo(texto, x, y + HUECO / 2, estilo, { ancho, maximo: 2, papel: 'TD' })
    }
  })
  lienzo.regla(X, y + alto, ANCHO)
  return y + alto
}
