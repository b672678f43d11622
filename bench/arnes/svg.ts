import { formatearNumero } from './numero.ts'
import type { Serie } from './rondas.ts'

/** Line of a chart. */
export interface Linea {
  nombre: string
  /** Points in order of x. The chart also shows the band between minimum and maximum. */
  puntos: readonly { x: number; y: Serie }[]
}

/** Line chart. */
export interface Grafica {
  titulo: string
  ejeX: string
  ejeY: string
  lineas: readonly Linea[]
  /** Makes the x axis logarithmic. Zero is drawn at a tenth of the first positive x. */
  logaritmica?: boolean
}

const ANCHO = 760
const ALTO = 420
const MARGEN = { arriba: 48, derecha: 32, abajo: 56, izquierda: 72 }
const COLORES = ['#1565c0', '#c62828', '#2e7d32', '#6a1b9a', '#ef6c00']

/** Returns the SVG of a line chart. The y axis starts at zero, so that a flat line looks flat. */
export function dibujar({ titulo, ejeX, ejeY, lineas, logaritmica = false }: Grafica): string {
  const puntos = lineas.flatMap((linea) => linea.puntos)
  const xs = [...new Set(puntos.map(({ x }) => x))].sort((a, b) => a - b)
  const escala = (x: number) => (logaritmica ? Math.log10(Math.max(x, (xs.find((otra) => otra > 0) ?? 1) / 10)) : x)
  const [x0, x1] = [escala(xs[0] ?? 0), escala(xs.at(-1) ?? 1)]
  const tope = paso(Math.max(...puntos.map(({ y }) => y.max)) || 1)
  const px = (x: number) =>
    redondo(MARGEN.izquierda + ((escala(x) - x0) / (x1 - x0 || 1)) * (ANCHO - MARGEN.izquierda - MARGEN.derecha))
  const py = (y: number) => redondo(ALTO - MARGEN.abajo - (y / tope) * (ALTO - MARGEN.arriba - MARGEN.abajo))
  const texto = (x: number, y: number, contenido: string, mas = '') =>
    `<text x="${x}" y="${y}" ${mas}>${escapar(contenido)}</text>`

  const reticula = [0, 1, 2, 3, 4, 5]
    .map((n) => (tope * n) / 5)
    .map(
      (y) =>
        `<line x1="${MARGEN.izquierda}" x2="${ANCHO - MARGEN.derecha}" y1="${py(y)}" y2="${py(y)}" stroke="#ddd"/>` +
        texto(MARGEN.izquierda - 8, py(y) + 4, formatearNumero(y), 'text-anchor="end"'),
    )
  const visibles = logaritmica || xs.length <= 8 ? xs : xs.filter((_, i) => i % Math.ceil(xs.length / 8) === 0)
  const marcas = visibles.map((x) => texto(px(x), ALTO - MARGEN.abajo + 18, corto(x), 'text-anchor="middle"'))
  const trazos = lineas.map(({ nombre, puntos: suyos }, i) => {
    const color = COLORES[i % COLORES.length]!
    const camino = suyos.map(({ x, y }) => `${px(x)},${py(y.mediana)}`).join(' ')
    const banda = [
      ...suyos.map(({ x, y }) => `${px(x)},${py(y.max)}`),
      ...suyos.toReversed().map(({ x, y }) => `${px(x)},${py(y.min)}`),
    ].join(' ')
    return [
      `<polygon points="${banda}" fill="${color}" opacity="0.12"/>`,
      `<polyline points="${camino}" fill="none" stroke="${color}" stroke-width="2"/>`,
      ...suyos.map(({ x, y }) => `<circle cx="${px(x)}" cy="${py(y.mediana)}" r="3" fill="${color}"/>`),
      texto(MARGEN.izquierda + i * 220, MARGEN.arriba - 10, `— ${nombre}`, `fill="${color}"`),
    ].join('\n')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${ANCHO} ${ALTO}" font-family="sans-serif" font-size="12">
<rect width="${ANCHO}" height="${ALTO}" fill="#fff"/>
${texto(MARGEN.izquierda, 20, titulo, 'font-size="15" font-weight="bold"')}
${reticula.join('\n')}
${marcas.join('\n')}
${texto((ANCHO + MARGEN.izquierda) / 2, ALTO - 14, ejeX, 'text-anchor="middle"')}
${texto(0, 0, ejeY, `transform="translate(16 ${ALTO / 2}) rotate(-90)" text-anchor="middle"`)}
${trazos.join('\n')}
</svg>
`
}

/** Returns the next larger round number: 1, 2, 2.5, 5 or 10 times a power of ten. */
function paso(valor: number): number {
  const unidad = 10 ** Math.floor(Math.log10(valor))
  return ([1, 2, 2.5, 5, 10].find((n) => n * unidad >= valor) ?? 10) * unidad
}

/** Formats a number in compact form (500K, 1M), because longer labels would overlap. */
const corto = (valor: number) => valor.toLocaleString('en-US', { notation: 'compact', maximumSignificantDigits: 3 })
const redondo = (valor: number) => Math.round(valor * 10) / 10
const escapar = (texto: string) => texto.replace(/&/g, '&amp;').replace(/</g, '&lt;')
