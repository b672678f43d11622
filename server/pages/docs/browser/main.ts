// Script of the reading view. The page is generated in advance, and can be read before any script runs. Redoc's own
// program, nine tenths of the bytes, loads after the first paint. The search loads at the first search.
import { withRelativeDays } from '../../../platform/time/relativeDays.ts'
import { withAddress } from '../address.ts'
import { keepCopyButtons } from './copy.ts'
import { focusMenu, makeFocusable, skipToContent } from './keyboard.ts'

/** Paths of the files that load later, relative to the page. */
const assets = document.querySelector<HTMLElement>('#programa')!.dataset as Record<
  'redoc' | 'contrato' | 'buscador' | 'indice',
  string
>
const toUrl = (path: string) => new URL(path, document.baseURI).href
/** Base URL from which the page is served, without a final slash. */
const direccion = toUrl('.').replace(/\/$/, '')

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

/**
 * Redirects `#error-<codigo>`, the permanent address of an error, to an address of Redoc. Redoc only shows addresses
 * that Redoc itself generates.
 */
function redirectToError() {
  if (/^#error-\w+$/.test(location.hash)) location.replace(`#section/errores${location.hash}`)
}

/** Resolves once the page has been painted; at once in a hidden tab, which is never painted. */
const waitForPaint = () =>
  new Promise<void>((resolve) => {
    if (document.hidden) resolve()
    else requestAnimationFrame(() => setTimeout(resolve))
  })

interface Redoc {
  hydrate(definition: object, options: object, where: HTMLElement): Promise<void>
}

async function startRedoc() {
  await waitForPaint()
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

const ventana = document.querySelector<HTMLDialogElement>('#buscador')!
const field = ventana.querySelector('input')!

/**
 * Opens the search window at once, so that its field receives every key. The results appear when the index has loaded.
 */
function find() {
  if (!ventana.open) ventana.showModal()
  field.select()
  void loadSearch()
}

async function loadSearch() {
  try {
    const { loadIndex } = (await import(toUrl(assets.buscador))) as typeof import('./searchBox.ts')
    await loadIndex(toUrl(assets.indice))
  } catch {
    ventana.querySelector('[role="status"]')!.textContent =
      'No se pudo cargar la búsqueda: revise su conexión y ábrala otra vez.'
  }
}

/**
 * Tells whether a key press goes into a text field. A field in a closed dialog does not count: the browser may still
 * send it the next key press.
 */
const isTyping = (where: EventTarget | null) =>
  where instanceof HTMLElement &&
  (where.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(where.tagName)) &&
  !where.closest('dialog:not([open])')

// Captures the event before Redoc does: Redoc's own search does not find chapters.
window.addEventListener(
  'keydown',
  (evento) => {
    const isShortcut = (evento.ctrlKey || evento.metaKey) && evento.key.toLowerCase() === 'k'
    if (!isShortcut && (evento.key !== '/' || isTyping(evento.target))) return
    evento.preventDefault()
    evento.stopImmediatePropagation()
    find()
  },
  { capture: true },
)
const searchButton = document.querySelector<HTMLButtonElement>('#buscar')!
searchButton.addEventListener('click', find)
ventana.querySelector('.cerrar')!.addEventListener('click', () => ventana.close())
ventana.addEventListener('click', (evento) => {
  if (evento.target === ventana) ventana.close()
})
// Browsers that support `commandfor` open the window before this script runs.
if (ventana.open) void loadSearch()
if (navigator.userAgent.includes('Mac')) searchButton.querySelector('kbd')!.textContent = '⌘K'
addEventListener('hashchange', redirectToError)
redirectToError()
writeBrandName()
skipToContent()
const reading = document.querySelector<HTMLElement>('#redoc')!
writeAddress(reading)
makeFocusable(reading)
focusMenu(reading)
void startRedoc()
