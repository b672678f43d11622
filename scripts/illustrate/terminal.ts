const COLUMNS = 104
const OUTPUT_LINES = 8
const FOLDS = new RegExp(`.{1,${COLUMNS}}`, 'g')
const CHARACTER_WIDTH = 7.8
const ALTO = 19
const PADDING = 20

const escapeXml = (texto: string) => texto.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const truncate = (texto: string) => (texto.length > COLUMNS ? `${texto.slice(0, COLUMNS - 1)}…` : texto)

/** Returns an SVG of a terminal session: dark on any page, sharp at any size, a few KB. */
export function terminal(turns: { command: string; output: string }[]): string {
  const lines = turns.flatMap(({ command, output }) => {
    const typedLines = command
      .split('\n')
      .map((linea, i) => ({ cssClass: 'orden', texto: `${i === 0 ? '$ ' : '  '}${linea}` }))
    // Lines are wrapped at the width of the terminal, as terminals do.
    const lineas = output
      .trimEnd()
      .split('\n')
      .flatMap((linea) => linea.match(FOLDS) ?? [''])
    const shownLines = lineas.length > OUTPUT_LINES ? [...lineas.slice(0, OUTPUT_LINES - 1), '…'] : lineas
    return [
      ...typedLines,
      ...shownLines.map((texto) => ({ cssClass: 'salida', texto })),
      { cssClass: 'salida', texto: '' },
    ]
  })
  const ancho = Math.ceil(COLUMNS * CHARACTER_WIDTH + 2 * PADDING)
  const alto = (lines.length - 1) * ALTO + 2 * PADDING
  const textElements = lines.map(
    ({ cssClass, texto }, i) =>
      `<text class="${cssClass}" x="${PADDING}" y="${PADDING + 14 + i * ALTO}">${escapeXml(truncate(texto))}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${ancho} ${alto}" width="${ancho}" height="${alto}" role="img">
<title>npm start, the first request and its answer</title>
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}.orden{fill:#7dd3fc}.salida{fill:#e2e8f0}</style>
<rect width="${ancho}" height="${alto}" rx="10" fill="#0f172a"/>
${textElements.join('\n')}
</svg>
`
}
