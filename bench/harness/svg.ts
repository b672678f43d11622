import { formatNumber } from './number.ts'
import type { Series } from './rounds.ts'

/** Line of a chart. */
export interface ChartLine {
  nombre: string
  /** Points in order of x. The chart also shows the band between minimum and maximum. */
  points: readonly { x: number; y: Series }[]
}

/** Line chart. */
export interface Chart {
  titulo: string
  xAxis: string
  yAxis: string
  lineas: readonly ChartLine[]
  /** Makes the x axis logarithmic. Zero is drawn at a tenth of the first positive x. */
  isLogarithmic?: boolean
}

const WIDTH = 760
const HEIGHT = 420
const MARGIN = { top: 48, right: 32, bottom: 56, left: 72 }
const COLORS = ['#1565c0', '#c62828', '#2e7d32', '#6a1b9a', '#ef6c00']

/** Returns the SVG of a line chart. The y axis starts at zero, so that a flat line looks flat. */
export function renderChart({ titulo, xAxis, yAxis, lineas, isLogarithmic = false }: Chart): string {
  const points = lineas.flatMap((line) => line.points)
  const xs = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b)
  const scale = (x: number) =>
    isLogarithmic ? Math.log10(Math.max(x, (xs.find((otherX) => otherX > 0) ?? 1) / 10)) : x
  const [x0, x1] = [scale(xs[0] ?? 0), scale(xs.at(-1) ?? 1)]
  const maxY = step(Math.max(...points.map(({ y }) => y.max)) || 1)
  const px = (x: number) =>
    roundCoordinate(MARGIN.left + ((scale(x) - x0) / (x1 - x0 || 1)) * (WIDTH - MARGIN.left - MARGIN.right))
  const py = (y: number) => roundCoordinate(HEIGHT - MARGIN.bottom - (y / maxY) * (HEIGHT - MARGIN.top - MARGIN.bottom))
  const text = (x: number, y: number, content: string, attributes = '') =>
    `<text x="${x}" y="${y}" ${attributes}>${escapeText(content)}</text>`

  const gridLines = [0, 1, 2, 3, 4, 5]
    .map((n) => (maxY * n) / 5)
    .map(
      (y) =>
        `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${py(y)}" y2="${py(y)}" stroke="#ddd"/>` +
        text(MARGIN.left - 8, py(y) + 4, formatNumber(y), 'text-anchor="end"'),
    )
  const labelledXs = isLogarithmic || xs.length <= 8 ? xs : xs.filter((_, i) => i % Math.ceil(xs.length / 8) === 0)
  const tickLabels = labelledXs.map((x) =>
    text(px(x), HEIGHT - MARGIN.bottom + 18, formatCompact(x), 'text-anchor="middle"'),
  )
  const lineShapes = lineas.map(({ nombre, points: linePoints }, i) => {
    const color = COLORS[i % COLORS.length]!
    const linePath = linePoints.map(({ x, y }) => `${px(x)},${py(y.median)}`).join(' ')
    const bandPoints = [
      ...linePoints.map(({ x, y }) => `${px(x)},${py(y.max)}`),
      ...linePoints.toReversed().map(({ x, y }) => `${px(x)},${py(y.min)}`),
    ].join(' ')
    return [
      `<polygon points="${bandPoints}" fill="${color}" opacity="0.12"/>`,
      `<polyline points="${linePath}" fill="none" stroke="${color}" stroke-width="2"/>`,
      ...linePoints.map(({ x, y }) => `<circle cx="${px(x)}" cy="${py(y.median)}" r="3" fill="${color}"/>`),
      text(MARGIN.left + i * 220, MARGIN.top - 10, `— ${nombre}`, `fill="${color}"`),
    ].join('\n')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${text(MARGIN.left, 20, titulo, 'font-size="15" font-weight="bold"')}
${gridLines.join('\n')}
${tickLabels.join('\n')}
${text((WIDTH + MARGIN.left) / 2, HEIGHT - 14, xAxis, 'text-anchor="middle"')}
${text(0, 0, yAxis, `transform="translate(16 ${HEIGHT / 2}) rotate(-90)" text-anchor="middle"`)}
${lineShapes.join('\n')}
</svg>
`
}

/** Returns the next larger round number: 1, 2, 2.5, 5 or 10 times a power of ten. */
function step(value: number): number {
  const unidad = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 2.5, 5, 10].find((n) => n * unidad >= value) ?? 10) * unidad
}

/** Formats a number in compact form (500K, 1M), because longer labels would overlap. */
const formatCompact = (value: number) =>
  value.toLocaleString('en-US', { notation: 'compact', maximumSignificantDigits: 3 })
const roundCoordinate = (value: number) => Math.round(value * 10) / 10
const escapeText = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')
