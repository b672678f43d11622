/**
 * Builds the reading view with Redoc and splits its page into three files. The HTML is rendered in advance, so that
 * readers need only this file to start reading. The others are Redoc's program and the contract that it shows.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { renderBar, renderSearch } from '../../server/pages/docs/bar.ts'
import { html } from '../../server/platform/html.ts'
import { compressFiles } from '../generate/compress.ts'
import { makeAccessible } from './accessible.ts'
import type { JsonObject } from './contract.ts'
import { toReadingContract } from './reading.ts'
import { translateRedoc } from './spanish.ts'

type Run = (program: string, args: string[], env?: NodeJS.ProcessEnv) => Promise<void>

/** Images in Redoc's program, of its link to its own site, that would be loaded from another host. */
const FOREIGN_IMAGES = /https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(?:-full)?\.svg/g
/**
 * Last script of Redoc's page. The groups are Redoc's program (up to the line that exports `hydrate`), the contract,
 * and Redoc's options. The page is split here, so that the browser loads program and contract as separate files.
 */
const FINAL =
  /<script type="module">\s*([\s\S]*export\{[^}]*\bhydrate\b[^}]*\};)\s*const __redoc_definition = ([\s\S]*);\s*const __redoc_options = ([^\n]*);\s*hydrate\([^\n]*\);\s*<\/script>/

/**
 * Code in Redoc that colours a word of a sample with a `style` attribute, which the page's Content Security Policy
 * forbids.
 */
const INLINE_COLOR = / style="color: var\((\$\{\w+\})\)"/
/** Names of the colours that Redoc uses for the words of samples. */
const COLOR_NAMES = /`(--code-block-tokens-[a-z-]+-color)`/g

/**
 * Returns a style sheet that colours the words of samples by the attribute `data-color`, which replaces Redoc's
 * `style`.
 */
const colorStyles = (program: string) => {
  const names = new Set([...program.matchAll(COLOR_NAMES)].map(([, name]) => name))
  return `<style>${[...names].map((name) => `[data-color="${name}"]{color:var(${name})}`).join('')}</style>\n`
}

/**
 * Code in Redoc that builds the index of its own search when the browser is idle. The page has another search, so this
 * code is removed.
 */
const REDOC_INDEX = /(\w+\.current=(\w+);let \w+=)\w+\(\2\)(;return\(\)=>\{\w+=!0,\w+\.current=null,\w+\(\)\})/

/**
 * Link of Redoc's menu as it is rendered in advance, where Redoc's router has no page. It leads to a chapter or, within
 * the page, to another place.
 */
const MENU_LINK = / href="(?:\/section\/([\w-]+)|(\/[^"]*))"(?= data-discover)/g

const bar = { root: '', mark: html`<span>Guías</span>`, searchPath: '{buscador}', indexPath: '{indice}' }
/**
 * Page around what Redoc renders. The generator of the pages fills in style, redirects and the paths of programs, which
 * change with the contents of files.
 */
const TEMPLATE = `<!doctype html>
<html lang="es">
<head>
  <meta charset="utf-8">
  <title>{{title}}</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <script>/*DESVIO*/</script>
  <link rel="icon" type="image/svg+xml" href="docs/icono.svg">
  <link rel="alternate" type="text/plain" title="Para asistentes (llms.txt)" href="llms.txt">
  {{{redocHead}}}
  <style>/*ESTILO*/</style>
  <link rel="stylesheet" href="docs/marca.css">
</head>
<body>
  <a class="saltar" href="#api-content">Saltar al contenido</a>
  ${renderBar(bar).texto}
  {{{redocHTML}}}
  ${renderSearch(bar).texto}
</body>
</html>
`

/**
 * Writes `base.html`, `redoc.js` and `contrato.json` of the reading view into a folder.
 * @throws if Redoc's page no longer has the expected form
 */
export async function buildPage(contract: JsonObject, folder: URL, run: Run) {
  await mkdir(folder, { recursive: true })
  const inputUrl = new URL('entrada.json', folder)
  const page = new URL('base.html', folder)
  const templateUrl = new URL('plantilla.hbs', folder)
  await writeFile(inputUrl, JSON.stringify(toReadingContract(contract)))
  await writeFile(templateUrl, TEMPLATE)
  const [from, target, template] = [inputUrl, page, templateUrl].map((url) => fileURLToPath(url)) as [
    string,
    string,
    string,
  ]
  // The HTML rendered here and the program in the browser must have the same Spanish texts.
  await run('redocly', ['build-docs', from, '--output', target, '--inlineBundle', '--template', template], {
    NODE_OPTIONS: `--import ${new URL('translateRedoc.mjs', import.meta.url).href}`,
  })
  const html = translateRedoc(makeAccessible((await readFile(page, 'utf8')).replace(FOREIGN_IMAGES, 'data:,')))
  const [script, program, definition, options] = FINAL.exec(html) ?? []
  const isExpected = program && REDOC_INDEX.test(program) && INLINE_COLOR.test(program)
  if (!script || !isExpected || !definition || !options) {
    throw new Error("Redoc's page has changed: update scripts/documentation/page.ts")
  }
  const styles = colorStyles(program)
  const base = html
    .replace(script, () => '')
    .replace('</head>', () => `${styles}</head>`)
    .replaceAll(MENU_LINK, (_, chapter: string, place: string) =>
      chapter ? ` href="docs/${chapter}"` : ` href="#${place}"`,
    )
  await writeFile(page, base)
  await writeFile(
    new URL('redoc.js', folder),
    program.replace(REDOC_INDEX, '$1()=>{}$3').replace(INLINE_COLOR, ' data-color="$1"'),
  )
  await writeFile(new URL('contrato.json', folder), `{"definicion":${definition},"opciones":${options}}`)
  await compressFiles(folder, ['redoc.js', 'contrato.json'])
  await Promise.all([inputUrl, templateUrl].map((url) => rm(url)))
}
