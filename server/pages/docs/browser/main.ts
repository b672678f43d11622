// Script of the reading view. The page is generated in advance, and can be read before any script runs. Redoc's own
// program, nine tenths of the bytes, loads once the page is idle or an operation is opened. The search loads at the first
// search.
import { withRelativeDays } from '../../../platform/time/relativeDays.ts'
import { withAddress } from '../address.ts'
import { keepCopyButtons } from './copy.ts'
import { direccion, startSearch, toUrl } from './frame.ts'
import { focusMenu, makeFocusable, skipToContent } from './keyboard.ts'

/** Paths of the files that load later, relative to the page. */
const assets = document.querySelector<HTMLElement>('#programa')!.dataset as Record<'redoc' | 'contrato', string>

/** Replaces the example addresses in the generated page with the service's own address. */
function writeAddress(where: Node) {
  const textNodes = document.createTreeWalker(where, NodeFilter.SHOW_TEXT)
  while (textNodes.nextNode()) {
    const text = textNodes.currentNode as Text
    const replacedText = withAddress(text.data, direccion)
    if (replacedText !== text.data) text.data = replacedText
  }
}

/**
 * Returns a text that comes with the brand's stylesheet; empty if the stylesheet did not load. The page itself is the
 * same for every brand and on every day.
 */
function readStylesheetText(variable: '--nombre' | '--hoy'): string {
  const value = getComputedStyle(document.documentElement).getPropertyValue(variable)
  return value && JSON.parse(value)
}

/** Writes the brand's name into the header. */
function writeBrandName() {
  const name = readStylesheetText('--nombre')
  if (name) document.querySelector('.barra .marca span')!.textContent = name
}

/** True if the address or the link leads to a place that only Redoc's program shows: a group, an operation, a schema. */
const leadsToOperacion = (address: string) => /^#\/?(?!section\/)./.test(address)

/** Time in milliseconds after which the page counts as idle, however busy the browser is. */
const IDLE_TIMEOUT_MS = 3_000

/** Resolves when Redoc's program is needed: the page has loaded and is idle, or the reader opens an operation. */
const waitForNeed = () =>
  new Promise<void>((resolve) => {
    if (leadsToOperacion(location.hash)) return resolve()
    addEventListener('hashchange', () => leadsToOperacion(location.hash) && resolve())
    const waitForIdle = () =>
      'requestIdleCallback' in window
        ? requestIdleCallback(() => resolve(), { timeout: IDLE_TIMEOUT_MS })
        : setTimeout(resolve, IDLE_TIMEOUT_MS)
    if (document.readyState === 'complete') waitForIdle()
    else addEventListener('load', waitForIdle)
  })

/**
 * Lets the browser itself follow links to chapters, which are pages of their own. Redoc would only scroll to what the
 * reading view says of the chapter.
 */
function leaveToChapters(where: HTMLElement) {
  where.addEventListener(
    'click',
    (evento) => {
      const link = (evento.target as Element).closest('a')
      if (/^(?:docs\/|#\/section\/)/.test(link?.getAttribute('href') ?? '')) evento.stopPropagation()
    },
    { capture: true },
  )
}

interface Redoc {
  hydrate(definition: object, options: object, where: HTMLElement): Promise<void>
}

async function startRedoc() {
  await waitForNeed()
  const [{ hydrate }, text] = await Promise.all([
    import(toUrl(assets.redoc)) as Promise<Redoc>,
    fetch(toUrl(assets.contrato)).then((response) => response.text()),
  ])
  const today = readStylesheetText('--hoy') || new Date().toISOString().slice(0, 10)
  const { definicion: definition, opciones } = JSON.parse(withRelativeDays(withAddress(text, direccion), today))
  const where = document.querySelector<HTMLElement>('#redoc')!
  await hydrate(definition, opciones, where)
  keepCopyButtons(where)
}

startSearch()
writeBrandName()
skipToContent()
const reading = document.querySelector<HTMLElement>('#redoc')!
writeAddress(reading)
leaveToChapters(reading)
makeFocusable(reading)
focusMenu(reading)
void startRedoc()
