/**
 * Builds the reading view with Redoc and splits its page into three files. The HTML is rendered in advance, so that
 * readers need only this file to start reading. The others are Redoc's program and the contract that it shows.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { comprimir } from '../generar/comprimir.ts'
import { accesible } from './accesible.ts'
import type { Objeto } from './contrato.ts'
import { conDiagramas } from './diagrama.ts'
import { enEspanol } from './espanol.ts'
import { leerGuiaDelContrato } from './guia.ts'
import { paraLeer } from './lectura.ts'

type Correr = (programa: string, args: string[], env?: NodeJS.ProcessEnv) => Promise<void>

/** Images in Redoc's program, of its link to its own site, that would be loaded from another host. */
const AJENAS = /https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(?:-full)?\.svg/g
/**
 * Last script of Redoc's page. The groups are Redoc's program (up to the line that exports `hydrate`), the contract,
 * and Redoc's options. The page is split here, so that the browser loads program and contract as separate files.
 */
const FINAL =
  /<script type="module">\s*([\s\S]*export\{[^}]*\bhydrate\b[^}]*\};)\s*const __redoc_definition = ([\s\S]*);\s*const __redoc_options = ([^\n]*);\s*hydrate\([^\n]*\);\s*<\/script>/

/**
 * Returns a style sheet that gives a chapter's parts smaller headings than chapters, because Redoc writes both as `h2`.
 */
const tamanos = (contrato: Objeto) => {
  const partes = leerGuiaDelContrato(contrato).capitulos.map(({ lugar }) => `h2[id^="${lugar}/"]`)
  return `<style>:is(${partes}){font-size:1.3em!important}</style>\n`
}

/**
 * Code in Redoc that colours a word of a sample with a `style` attribute, which the page's Content Security Policy
 * forbids.
 */
const SU_COLOR = / style="color: var\((\$\{\w+\})\)"/
/** Names of the colours that Redoc uses for the words of samples. */
const COLORES = /`(--code-block-tokens-[a-z-]+-color)`/g

/**
 * Returns a style sheet that colours the words of samples by the attribute `data-color`, which replaces Redoc's
 * `style`.
 */
const colores = (programa: string) => {
  const nombres = new Set([...programa.matchAll(COLORES)].map(([, nombre]) => nombre))
  return `<style>${[...nombres].map((nombre) => `[data-color="${nombre}"]{color:var(${nombre})}`).join('')}</style>\n`
}

/**
 * Code in Redoc that builds the index of its own search when the browser is idle. The page has another search, so this
 * code is removed.
 */
const SU_INDICE = /(\w+\.current=(\w+);let \w+=)\w+\(\2\)(;return\(\)=>\{\w+=!0,\w+\.current=null,\w+\(\)\})/

/**
 * Writes `base.html`, `redoc.js` and `contrato.json` of the reading view into a folder.
 * @throws if Redoc's page no longer has the expected form
 */
export async function construirPagina(contrato: Objeto, carpeta: URL, correr: Correr) {
  await mkdir(carpeta, { recursive: true })
  const entrada = new URL('entrada.json', carpeta)
  const pagina = new URL('base.html', carpeta)
  const info = contrato.info as Objeto
  const guia = await conDiagramas(String(info['x-guia']))
  await writeFile(entrada, JSON.stringify(paraLeer({ ...contrato, info: { ...info, 'x-guia': guia } })))
  const [desde, hacia] = [entrada, pagina].map((url) => fileURLToPath(url)) as [string, string]
  const plantilla = ['--template', 'server/pages/docs/plantilla.hbs']
  // The HTML rendered here and the program in the browser must have the same Spanish texts.
  await correr('redocly', ['build-docs', desde, '--output', hacia, '--inlineBundle', ...plantilla], {
    NODE_OPTIONS: `--import ${new URL('traducirRedoc.mjs', import.meta.url).href}`,
  })
  const html = enEspanol(accesible((await readFile(pagina, 'utf8')).replace(AJENAS, 'data:,')))
  const [guion, programa, definicion, opciones] = FINAL.exec(html) ?? []
  const esSuyo = programa && SU_INDICE.test(programa) && SU_COLOR.test(programa)
  if (!guion || !esSuyo || !definicion || !opciones) {
    throw new Error("Redoc's page has changed: update scripts/documentacion/pagina.ts")
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
