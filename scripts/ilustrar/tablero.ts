import type { Prometheus, SerieEnElTiempo } from '../prometheus.ts'

/** Dashboard of Grafana, with the members that its pictures need. */
export interface Tablero {
  title: string
  panels: Panel[]
}

interface Panel {
  title: string
  gridPos: { x: number; y: number }
  fieldConfig: { defaults: { unit: string } }
  targets: { expr: string; legendFormat: string }[]
}

interface Linea {
  nombre: string
  valores: [segundos: number, valor: number][]
  maximo: number
}

// The panel's plot area, and the legend below it: at most MAX_LINEAS names in two columns.
const [ANCHO, ALTO] = [470, 262]
const [IZQUIERDA, DERECHA, ARRIBA, ABAJO] = [62, 444, 40, 160]
const MAX_LINEAS = 8
const NOMBRE_MAXIMO = 25

const escapar = (texto: string) => texto.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const recortar = (texto: string) => (texto.length > NOMBRE_MAXIMO ? `${texto.slice(0, NOMBRE_MAXIMO - 1)}…` : texto)
const corto = (valor: number) => String(Number(valor.toPrecision(3)))

/** Writes a value with the unit of its panel. */
const UNIDADES: Record<string, (valor: number) => string> = {
  s: (valor) => (valor > 0 && valor < 1 ? `${corto(valor * 1_000)} ms` : `${corto(valor)} s`),
  bytes: (valor) => `${corto(valor / 1_000_000)} MB`,
  reqps: (valor) => `${corto(valor)}/s`,
  short: corto,
}

/** Returns the largest value of an axis: a round number that is not below `valor`. */
function tope(valor: number): number {
  if (valor <= 0) return 1
  const decena = 10 ** Math.floor(Math.log10(valor))
  return [1, 2, 4, 6, 8, 10].map((veces) => veces * decena).find((limite) => limite >= valor * 0.999)!
}

const nombrar = (formato: string, etiquetas: SerieEnElTiempo['etiquetas']) =>
  formato.replaceAll(/\{\{(\w+)\}\}/g, (_, etiqueta: string) => etiquetas[etiqueta] ?? '').trim()

function dibujar(
  panel: Panel,
  lineas: readonly Linea[],
  [desde, hasta]: [number, number],
  color: (nombre: string) => number,
) {
  const escribir = UNIDADES[panel.fieldConfig.defaults.unit]!
  const maximo = tope(Math.max(0, ...lineas.map((linea) => linea.maximo)))
  const x = (segundos: number) => Math.round(IZQUIERDA + ((segundos - desde) / (hasta - desde)) * (DERECHA - IZQUIERDA))
  const y = (valor: number) => Math.round((ABAJO - (valor / maximo) * (ABAJO - ARRIBA)) * 10) / 10
  const ejes = [0, 0.5, 1].map(
    (parte) =>
      `<path class="eje" d="M${IZQUIERDA} ${y(maximo * parte)}H${DERECHA}"/><text x="${IZQUIERDA - 6}" y="${y(maximo * parte) + 4}" text-anchor="end">${escribir(maximo * parte)}</text>`,
  )
  const minutos = Array.from({ length: Math.floor((hasta - desde) / 60) + 1 }, (_, minuto) => minuto)
  const tiempos = minutos.map(
    (minuto) => `<text x="${x(desde + minuto * 60)}" y="${ABAJO + 16}" text-anchor="middle">${minuto} min</text>`,
  )
  const vistas = lineas.slice(0, MAX_LINEAS)
  const trazos = vistas.map(({ nombre, valores }) => {
    // A quantile without samples is NaN, so the line has a gap there.
    const puntos = valores.map(([en, valor]) => (Number.isFinite(valor) ? `${x(en)} ${y(valor)}` : ''))
    const d = puntos.map((punto, i) => (punto === '' ? '' : `${puntos[i - 1] ? 'L' : 'M'}${punto}`)).join('')
    return `<path class="c${color(nombre)}" d="${d}"/>`
  })
  const leyenda = vistas.map(({ nombre, maximo }, i) => {
    const [a, b] = [IZQUIERDA - 46 + (i % 2) * 222, ABAJO + 38 + Math.floor(i / 2) * 16]
    return `<path class="c${color(nombre)}" d="M${a} ${b - 4}h14"/><text x="${a + 19}" y="${b}">${escapar(recortar(nombre))} · ${escribir(maximo)}</text>`
  })
  const faltan = lineas.length - vistas.length
  const titulo = faltan > 0 ? `${panel.title} (las ${MAX_LINEAS} mayores de ${lineas.length})` : panel.title
  return [`<text class="titulo" x="16" y="22">${escapar(titulo)}</text>`, ...ejes, ...tiempos, ...trazos, ...leyenda]
}

const ESTILO = `text{font:12px system-ui,"DejaVu Sans",sans-serif;fill:#1f2937}.titulo{font-weight:600;font-size:13px}
.fondo{fill:#fff}.panel{fill:#f8fafc;stroke:#cbd5e1}.eje{stroke:#cbd5e1;fill:none}path{fill:none;stroke-width:2;stroke-linejoin:round}.eje{stroke-width:1}
.c0{stroke:#1d4ed8}.c1{stroke:#b45309}.c2{stroke:#047857}.c3{stroke:#be123c}.c4{stroke:#7e22ce;stroke-dasharray:6 3}.c5{stroke:#0e7490;stroke-dasharray:6 3}.c6{stroke:#4d7c0f;stroke-dasharray:2 3}.c7{stroke:#374151;stroke-dasharray:2 3}
@media(prefers-color-scheme:dark){text{fill:#e2e8f0}.fondo{fill:#0f172a}.panel{fill:#1e293b;stroke:#475569}.eje{stroke:#475569}
.c0{stroke:#93c5fd}.c1{stroke:#fdba74}.c2{stroke:#6ee7b7}.c3{stroke:#fda4af}.c4{stroke:#d8b4fe}.c5{stroke:#67e8f9}.c6{stroke:#bef264}.c7{stroke:#e5e7eb}}`

/**
 * Returns a dashboard as an SVG, with each panel as a small line chart of the values that Prometheus recorded in this
 * period.
 * @param preparar shortens the time ranges in an expression
 */
export async function dibujarTablero(
  tablero: Tablero,
  prometheus: Prometheus,
  [desde, hasta]: [number, number],
  preparar: (expresion: string) => string,
): Promise<string> {
  const paneles: string[] = []
  for (const panel of tablero.panels) {
    const lineas: Linea[] = []
    for (const { expr, legendFormat } of panel.targets)
      for (const { etiquetas, valores } of await prometheus.rango(preparar(expr), desde, hasta, 2)) {
        const maximo = Math.max(0, ...valores.map(([, valor]) => valor).filter(Number.isFinite))
        lineas.push({ nombre: nombrar(legendFormat, etiquetas), valores, maximo })
      }
    lineas.sort((a, b) => b.maximo - a.maximo)
    const { x, y } = panel.gridPos
    const colores = new Map(lineas.map(({ nombre }, i) => [nombre, i % MAX_LINEAS]))
    const dibujo = dibujar(panel, lineas, [desde, hasta], (nombre) => colores.get(nombre)!)
    paneles.push(
      `<g transform="translate(${(x / 12) * (ANCHO + 10) + 10} ${(y / 8) * (ALTO + 10) + 10})"><rect class="panel" width="${ANCHO}" height="${ALTO}" rx="6"/>\n${dibujo.join('\n')}</g>`,
    )
  }
  const filas = Math.max(...tablero.panels.map(({ gridPos }) => gridPos.y)) / 8 + 1
  const [ancho, alto] = [2 * (ANCHO + 10) + 10, filas * (ALTO + 10) + 10]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${ancho} ${alto}" width="${ancho}" height="${alto}" role="img">
<title>${escapar(tablero.title)}</title>
<style>${ESTILO}</style>
<rect class="fondo" width="${ancho}" height="${alto}"/>
${paneles.join('\n')}
</svg>
`
}
