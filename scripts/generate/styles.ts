// Builds the style sheets of the web pages: bundles a page's imports into one file, for the browsers that the pages
// support.
import { fileURLToPath } from 'node:url'
import { bundle, type Targets, transform } from 'lightningcss'

/** Oldest browsers that the pages support, from the year 2021. lightningcss writes versions as major × 2^16. */
const BROWSERS: Targets = { chrome: 90 << 16, firefox: 91 << 16, ios_saf: 15 << 16, safari: 15 << 16 }

const namesIn = (css: string, pattern: RegExp) => new Set([...css.matchAll(pattern)].map(([, name]) => name!))

/** Returns the names of the custom properties that a text uses. */
export const variableNames = (text: string) => namesIn(text, /var\(\s*(--[\w-]+)/g)

/** Lists the custom properties that a style sheet defines, and that neither it nor `foreignVariables` uses. */
function listUnusedVariables(css: string, foreignVariables: ReadonlySet<string>): string[] {
  const usedVariables = variableNames(css).union(foreignVariables)
  return [...namesIn(css, /(--[\w-]+):/g)].filter((name) => !usedVariables.has(name))
}

/**
 * Returns a style sheet with everything that it imports, minified. Leaves out the tokens that the page does not use. One
 * round is not enough: a token may be used by another unused token alone.
 * @param foreignVariables custom properties that other style sheets of the page use
 */
export function bundleStyles(sheet: URL, foreignVariables: ReadonlySet<string> = new Set()): string {
  const bundleSheet = (unusedSymbols: string[], targets?: Targets) =>
    bundle({ filename: fileURLToPath(sheet), minify: true, unusedSymbols, ...(targets && { targets }) }).code.toString()
  const unusedVariables: string[] = []
  for (
    let moreUnused = listUnusedVariables(bundleSheet(unusedVariables), foreignVariables);
    moreUnused.length > 0;
    moreUnused = listUnusedVariables(bundleSheet(unusedVariables), foreignVariables)
  )
    unusedVariables.push(...moreUnused)
  return bundleSheet(unusedVariables, BROWSERS)
}

/** Returns a style sheet minified. */
export const minifyStyles = (css: string) =>
  transform({ filename: 'hoja.css', code: Buffer.from(css), minify: true, targets: BROWSERS }).code.toString()
