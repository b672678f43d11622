const CHARACTER_WIDTH = 7.8
const LINE_HEIGHT = 19
const PADDING = 20

const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Returns an SVG of a terminal session: dark on any page, sharp at any size, a few KB. */
export function terminal(turns: readonly { command: string; output: string }[]): string {
  const lines = turns.flatMap(({ command, output }) => [
    ...command.split('\n').map((text, i) => ({ kind: 'orden', text: i === 0 ? `$ ${text}` : text })),
    ...output
      .trimEnd()
      .split('\n')
      .map((text) => ({ kind: 'salida', text })),
  ])
  const width = Math.ceil(Math.max(...lines.map(({ text }) => text.length)) * CHARACTER_WIDTH + 2 * PADDING)
  const height = lines.length * LINE_HEIGHT + 2 * PADDING
  const textElements = lines.map(
    ({ kind, text }, i) =>
      `<text class="${kind}" x="${PADDING}" y="${PADDING + 14 + i * LINE_HEIGHT}">${escapeXml(text)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>npm start, the first request and its answer</title>
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}.orden{fill:#7dd3fc}.salida{fill:#e2e8f0}</style>
<rect width="${width}" height="${height}" rx="10" fill="#0f172a"/>
${textElements.join('\n')}
</svg>
`
}
