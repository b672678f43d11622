/**
 * The reading view, made by Redoc and taken apart: the HTML that it writes beforehand, which is all that has to arrive before
 * there is something to read, its program, and the contract that the program shows.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { comprimir } from '../generar/comprimir.ts'
import type { Objeto } from './contrato.ts'
import { conDiagramas } from './diagrama.ts'
import { enEspanol } from './espanol.ts'
import { leerGuia } from './guia.ts'
import { paraLeer } from './lectura.ts'

type Correr = (programa: string, args: string[], env?: NodeJS.ProcessEnv) => Promise<void>

/** Pictures that Redoc's footer would fetch from elsewhere. */
const AJENAS = /https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(?:-full)?\.svg/g
/** How Redoc's page ends: its program, which exports `hydrate`, the contract, its options, and the call. */
const FINAL =
  /<script type="module">\s*([\s\S]*export\{[^}]*\bhydrate\b[^}]*\};)\s*const __redoc_definition = ([\s\S]*);\s*const __redoc_options = ([^\n]*);\s*hydrate\([^\n]*\);\s*<\/script>/

/** A chapter's parts have smaller headings than chapters; Redoc writes both as `h2`. */
const tamanos = (contrato: Objeto) => {
  const partes = leerGuia(contrato).capitulos.map(({ lugar }) => `h2[id^="${lugar}/"]`)
  return `<style>:is(${partes}){font-size:1.3em!important}</style>\n`
}

/** Where Redoc colours a word of a sample with a style attribute, which the page's policy refuses. */
const SU_COLOR = / style="color: var\((\$\{\w+\})\)"/
/** The colours that Redoc has for the words of samples. */
const COLORES = /`(--code-block-tokens-[a-z-]+-color)`/g

/** Rules that colour the words of samples by the attribute that stands in the place of Redoc's. */
const colores = (programa: string) => {
  const nombres = new Set([...programa.matchAll(COLORES)].map(([, nombre]) => nombre))
  return `<style>${[...nombres].map((nombre) => `[data-color="${nombre}"]{color:var(${nombre})}`).join('')}</style>\n`
}

/** Where it sets about an index for its own search, which ours stands before, as soon as the browser has nothing to do. */
const SU_INDICE = /(\w+\.current=(\w+);let \w+=)\w+\(\2\)(;return\(\)=>\{\w+=!0,\w+\.current=null,\w+\(\)\})/

/** Writes `base.html`, `redoc.js` and `contrato.json` of the reading view into a folder. */
export async function construirPagina(contrato: Objeto, carpeta: URL, correr: Correr) {
  await mkdir(carpeta, { recursive: true })
  const entrada = new URL('entrada.json', carpeta)
  const pagina = new URL('base.html', carpeta)
  const info = contrato.info as Objeto
  const description = await conDiagramas(String(info.description))
  await writeFile(entrada, JSON.stringify(paraLeer({ ...contrato, info: { ...info, description } })))
  const [desde, hacia] = [entrada, pagina].map((url) => fileURLToPath(url)) as [string, string]
  const plantilla = ['--template', 'server/paginas/docs/plantilla.hbs']
  // The half of the page that is written here, and the half that the browser writes, say the same words.
  await correr('redocly', ['build-docs', desde, '--output', hacia, '--inlineBundle', ...plantilla], {
    NODE_OPTIONS: `--import ${new URL('traducirRedoc.mjs', import.meta.url).href}`,
  })
  const html = enEspanol((await readFile(pagina, 'utf8')).replace(AJENAS, 'data:,'))
  const [guion, programa, definicion, opciones] = FINAL.exec(html) ?? []
  const esSuyo = programa && SU_INDICE.test(programa) && SU_COLOR.test(programa)
  if (!guion || !esSuyo || !definicion || !opciones) {
    throw new Error('Redoc no longer is what it was: see scripts/documentacion/pagina.ts')
  }
  const estilos = tamanos(contrato) + colores(programa)
  const base = html.replace(guion, () => '').replace('</head>', () => `${estilos}</head>`)
  await writeFile(pagina, base)
  await writeFile(
    new URL('redoc.js', carpeta),
    programa.replace(SU_INDICE, '$1()=>{}$3').replace(SU_COLOR, ' data-color="$1"'),
  )
  await writeFile(new URL('contrato.json', carpeta), `{"definicion":${definicion},"opciones":${opciones}}`)
  await comprimir(carpeta, ['redoc.js', 'contrato.json'])
  await rm(entrada)
}
