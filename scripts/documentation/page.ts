/**
 * Builds the reading view with Redoc and splits its page into three files. The HTML is rendered in advance, so that
 * readers need only this file to start reading. The others are Redoc's program and the contract that it shows.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { compressFiles } from '../generate/compress.ts'
import { makeAccessible } from './accessible.ts'
import type { JsonObject } from './contract.ts'
import { withDiagrams } from './diagram.ts'
import { readContractGuide } from './guide.ts'
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
 * Returns a style sheet that gives a chapter's parts smaller headings than chapters, because Redoc writes both as `h2`.
 */
const sizeStyles = (contract: JsonObject) => {
  const selectors = readContractGuide(contract).guideChapters.map(({ lugar }) => `h2[id^="${lugar}/"]`)
  return `<style>:is(${selectors}){font-size:1.3em!important}</style>\n`
}

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
 * Writes `base.html`, `redoc.js` and `contrato.json` of the reading view into a folder.
 * @throws if Redoc's page no longer has the expected form
 */
export async function buildPage(contract: JsonObject, folder: URL, run: Run) {
  await mkdir(folder, { recursive: true })
  const inputUrl = new URL('entrada.json', folder)
  const page = new URL('base.html', folder)
  const info = contract.info as JsonObject
  const guia = await withDiagrams(String(info['x-guia']))
  await writeFile(inputUrl, JSON.stringify(toReadingContract({ ...contract, info: { ...info, 'x-guia': guia } })))
  const [from, target] = [inputUrl, page].map((url) => fileURLToPath(url)) as [string, string]
  const templateOption = ['--template', 'server/pages/docs/plantilla.hbs']
  // The HTML rendered here and the program in the browser must have the same Spanish texts.
  await run('redocly', ['build-docs', from, '--output', target, '--inlineBundle', ...templateOption], {
    NODE_OPTIONS: `--import ${new URL('translateRedoc.mjs', import.meta.url).href}`,
  })
  const html = translateRedoc(makeAccessible((await readFile(page, 'utf8')).replace(FOREIGN_IMAGES, 'data:,')))
  const [script, program, definition, options] = FINAL.exec(html) ?? []
  const isExpected = program && REDOC_INDEX.test(program) && INLINE_COLOR.test(program)
  if (!script || !isExpected || !definition || !options) {
    throw new Error("Redoc's page has changed: update scripts/documentation/page.ts")
  }
  const styles = sizeStyles(contract) + colorStyles(program)
  const base = html.replace(script, () => '').replace('</head>', () => `${styles}</head>`)
  await writeFile(page, base)
  await writeFile(
    new URL('redoc.js', folder),
    program.replace(REDOC_INDEX, '$1()=>{}$3').replace(INLINE_COLOR, ' data-color="$1"'),
  )
  await writeFile(new URL('contrato.json', folder), `{"definicion":${definition},"opciones":${options}}`)
  await compressFiles(folder, ['redoc.js', 'contrato.json'])
  await rm(inputUrl)
}
