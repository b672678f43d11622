const ANCHO = 104
const RENGLONES_DE_SALIDA = 8
const PLIEGUES = new RegExp(`.{1,${ANCHO}}`, 'g')
const LETRA = 7.8
const ALTO = 19
const BORDE = 20

const escapar = (texto: string) => texto.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const recortar = (texto: string) => (texto.length > ANCHO ? `${texto.slice(0, ANCHO - 1)}…` : texto)

/** Returns an SVG of a terminal session: dark on any page, sharp at any size, a few KB. */
export function terminal(turnos: { orden: string; salida: string }[]): string {
  const renglones = turnos.flatMap(({ orden, salida }) => {
    const tecleado = orden
      .split('\n')
      .map((linea, i) => ({ clase: 'orden', texto: `${i === 0 ? '$ ' : '  '}${linea}` }))
    // Lines are wrapped at the width of the terminal, as terminals do.
    const lineas = salida
      .trimEnd()
      .split('\n')
      .flatMap((linea) => linea.match(PLIEGUES) ?? [''])
    const vistas = lineas.length > RENGLONES_DE_SALIDA ? [...lineas.slice(0, RENGLONES_DE_SALIDA - 1), '…'] : lineas
    return [...tecleado, ...vistas.map((texto) => ({ clase: 'salida', texto })), { clase: 'salida', texto: '' }]
  })
  const ancho = Math.ceil(ANCHO * LETRA + 2 * BORDE)
  const alto = (renglones.length - 1) * ALTO + 2 * BORDE
  const textos = renglones.map(
    ({ clase, texto }, i) =>
      `<text class="${clase}" x="${BORDE}" y="${BORDE + 14 + i * ALTO}">${escapar(recortar(texto))}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${ancho} ${alto}" width="${ancho}" height="${alto}" role="img">
<title>npm start, the first request and its answer</title>
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}.orden{fill:#7dd3fc}.salida{fill:#e2e8f0}</style>
<rect width="${ancho}" height="${alto}" rx="10" fill="#0f172a"/>
${textos.join('\n')}
</svg>
`
}
