// Builds the style sheets of the web pages: bundles a page's imports into one file, for the browsers that the pages
// support.
import { fileURLToPath } from 'node:url'
import { bundle, type Targets, transform } from 'lightningcss'

/** Oldest browsers that the pages support, from the year 2021. lightningcss writes versions as major × 2^16. */
const NAVEGADORES: Targets = { chrome: 90 << 16, firefox: 91 << 16, ios_saf: 15 << 16, safari: 15 << 16 }

const nombres = (css: string, patron: RegExp) => new Set([...css.matchAll(patron)].map(([, nombre]) => nombre!))

/** Returns the names of the custom properties that a text uses. */
export const nombresDeVariables = (texto: string) => nombres(texto, /var\(\s*(--[\w-]+)/g)

/** Lists the custom properties that a style sheet defines, and that neither it nor `ajenas` uses. */
function sinUso(css: string, ajenas: ReadonlySet<string>): string[] {
  const usadas = nombresDeVariables(css).union(ajenas)
  return [...nombres(css, /(--[\w-]+):/g)].filter((nombre) => !usadas.has(nombre))
}

/**
 * Returns a style sheet with everything that it imports, minified. Leaves out the tokens that the page does not use. One
 * round is not enough: a token may be used by another unused token alone.
 * @param ajenas custom properties that other style sheets of the page use
 */
export function unirEstilos(hoja: URL, ajenas: ReadonlySet<string> = new Set()): string {
  const unir = (unusedSymbols: string[], targets?: Targets) =>
    bundle({ filename: fileURLToPath(hoja), minify: true, unusedSymbols, ...(targets && { targets }) }).code.toString()
  const sobran: string[] = []
  for (let otros = sinUso(unir(sobran), ajenas); otros.length > 0; otros = sinUso(unir(sobran), ajenas))
    sobran.push(...otros)
  return unir(sobran, NAVEGADORES)
}

/** Returns a style sheet minified. */
export const abreviar = (css: string) =>
  transform({ filename: 'hoja.css', code: Buffer.from(css), minify: true, targets: NAVEGADORES }).code.toString()
