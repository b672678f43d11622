/** Script of the documentation's frame: the search window, on each of its pages. */

const ventana = document.querySelector<HTMLDialogElement>('#buscador')!
const field = ventana.querySelector('input')!
/** Paths of what loads at the first search, and of the service root, relative to the page. */
const paths = ventana.dataset as Record<'raiz' | 'buscador' | 'indice', string>

/** Returns the address of a path that is relative to the page. */
export const toUrl = (path: string) => new URL(path, document.baseURI).href
/** Base URL from which the page is served, without a final slash. */
export const direccion = toUrl(paths.raiz || '.').replace(/\/$/, '')

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
    const { loadIndex } = (await import(toUrl(paths.buscador))) as typeof import('./searchBox.ts')
    await loadIndex(toUrl(paths.indice), direccion)
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

/** Starts the search: its button and its keys. */
export function startSearch() {
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
}
