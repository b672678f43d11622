/** Renders the contract's state diagrams, written in Mermaid, with Graphviz. */
import { instance } from '@viz-js/viz'

/**
 * Font size for the layout of the boxes. The text is drawn 2 points smaller, because a reader's font may be wider than
 * Graphviz assumes.
 */
const FONT_SIZE = 17
const MERMAID_BLOCK = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/g

function read(block: string) {
  const arrows = [...block.matchAll(/^ *(\S+) --> (\S+)$/gm)].map(([, from = '', to = '']) => ({ from, to }))
  const detours = new Set(/^ *class (\S+) desvio$/m.exec(block)?.[1]?.split(','))
  const finalEstados = new Set(arrows.filter(({ to }) => to === '[*]').map(({ from }) => from))
  return { arrows: arrows.filter(({ to }) => to !== '[*]'), detours, finalEstados }
}

function toDot(block: string): string {
  const { arrows, detours, finalEstados } = read(block)
  const estados = new Set(arrows.flatMap(({ from, to }) => [from, to]).filter((estado) => estado !== '[*]'))
  return `digraph {
    bgcolor=transparent; nodesep=0.12; ranksep=0.3
    node [shape=box style=rounded fontname=Helvetica fontsize=${FONT_SIZE} margin="0.07,0.03" height=0.38]
    edge [arrowsize=0.6]
    "[*]" [shape=circle style=filled fillcolor=black label="" width=0.12 height=0.12]
    ${[...estados].map((estado) => `${estado}${finalEstados.has(estado) ? ' [peripheries=2]' : ''}`).join('\n')}
    ${arrows.map(({ from, to }) => `"${from}" -> "${to}"${detours.has(to) ? ' [style=dashed]' : ''}`).join('\n')}
  }`
}

const describeArrows = (block: string) => {
  const { arrows } = read(block)
  const arrowsByOrigin = Map.groupBy(
    arrows.filter(({ from }) => from !== '[*]'),
    ({ from }) => from,
  )
  return [...arrowsByOrigin]
    .map(([from, outgoingArrows]) => `de ${from} a ${outgoingArrows.map(({ to }) => to).join(', ')}`)
    .join('; ')
}

/**
 * Replaces each Mermaid diagram of a text with an image. The SVG is in a data URL, because Redoc would change the case
 * of `viewBox` in an SVG element.
 */
export async function withDiagrams(text: string): Promise<string> {
  const viz = await instance()
  return text.replace(MERMAID_BLOCK, (_, block: string) => {
    const svg = viz.renderString(toDot(block), { format: 'svg' })
    const drawing = svg
      .slice(svg.indexOf('<svg'))
      .replace(/<!--[\s\S]*?-->\n?/g, '')
      .replace(/<title>.*<\/title>\n?/g, '')
      .replaceAll(`font-size="${FONT_SIZE}.00"`, `font-size="${FONT_SIZE - 2}"`)
    const datos = Buffer.from(drawing).toString('base64')
    const alt = `Qué cambios de estado hay: ${describeArrows(block)}.`
    return `<img class="maquina" alt="${alt}" src="data:image/svg+xml;base64,${datos}">`
  })
}
