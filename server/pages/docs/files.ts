import { readAssets } from '../assets.ts'
import type { Front } from '../front.ts'
import type { DocsBar } from './bar.ts'

/** Path below which the documentation's programs and data are served. */
export const ASSETS_BASE = 'docs/recursos/'

/**
 * Returns what the documentation's bar shows on a page.
 * @param root relative path from the page to the service root, such as `../`
 */
export function readDocsBar(front: Front, root: string): DocsBar {
  const program = readAssets('pages/docs/', ASSETS_BASE, ['buscador.js'])
  const index = readAssets('documentation/', ASSETS_BASE, ['indice.json'])
  return {
    root,
    mark: front.renderMark(root),
    searchPath: program.path('buscador.js'),
    indexPath: index.path('indice.json'),
  }
}
