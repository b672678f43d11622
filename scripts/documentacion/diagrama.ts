/** Renders the contract's state diagrams, written in Mermaid, with Graphviz. */
import { instance } from '@viz-js/viz'

/**
 * Font size for the layout of the boxes. The text is drawn 2 points smaller, because a reader's font may be wider than
 * Graphviz assumes.
 */
const LETRA = 17
const BLOQUE = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/g

function leer(bloque: string) {
  const flechas = [...bloque.matchAll(/^ *(\S+) --> (\S+)$/gm)].map(([, de = '', a = '']) => ({ de, a }))
  const desvios = new Set(/^ *class (\S+) desvio$/m.exec(bloque)?.[1]?.split(','))
  const finales = new Set(flechas.filter(({ a }) => a === '[*]').map(({ de }) => de))
  return { flechas: flechas.filter(({ a }) => a !== '[*]'), desvios, finales }
}

function enDot(bloque: string): string {
  const { flechas, desvios, finales } = leer(bloque)
  const estados = new Set(flechas.flatMap(({ de, a }) => [de, a]).filter((estado) => estado !== '[*]'))
  return `digraph {
    bgcolor=transparent; nodesep=0.12; ranksep=0.3
    node [shape=box style=rounded fontname=Helvetica fontsize=${LETRA} margin="0.07,0.03" height=0.38]
    edge [arrowsize=0.6]
    "[*]" [shape=circle style=filled fillcolor=black label="" width=0.12 height=0.12]
    ${[...estados].map((estado) => `${estado}${finales.has(estado) ? ' [peripheries=2]' : ''}`).join('\n')}
    ${flechas.map(({ de, a }) => `"${de}" -> "${a}"${desvios.has(a) ? ' [style=dashed]' : ''}`).join('\n')}
  }`
}

const enPalabras = (bloque: string) => {
  const { flechas } = leer(bloque)
  const deCada = Map.groupBy(
    flechas.filter(({ de }) => de !== '[*]'),
    ({ de }) => de,
  )
  return [...deCada].map(([de, suyas]) => `de ${de} a ${suyas.map(({ a }) => a).join(', ')}`).join('; ')
}

/**
 * Replaces each Mermaid diagram of a text with an image. The SVG is in a data URL, because Redoc would change the case
 * of `viewBox` in an SVG element.
 */
export async function conDiagramas(texto: string): Promise<string> {
  const viz = await instance()
  return texto.replace(BLOQUE, (_, bloque: string) => {
    const svg = viz.renderString(enDot(bloque), { format: 'svg' })
    const dibujo = svg
      .slice(svg.indexOf('<svg'))
      .replace(/<!--[\s\S]*?-->\n?/g, '')
      .replace(/<title>.*<\/title>\n?/g, '')
      .replaceAll(`font-size="${LETRA}.00"`, `font-size="${LETRA - 2}"`)
    const datos = Buffer.from(dibujo).toString('base64')
    const alt = `Qué cambios de estado hay: ${enPalabras(bloque)}.`
    return `<img class="maquina" alt="${alt}" src="data:image/svg+xml;base64,${datos}">`
  })
}
