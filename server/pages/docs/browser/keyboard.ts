/** Keyboard support of the reading view, where Redoc's own is incomplete. */

import { afterEachChange } from './changes.ts'

/** Moves the focus to the content. Leaves the address unchanged, because Redoc interprets its hash. */
export function skipToContent() {
  document.querySelector('.saltar')!.addEventListener('click', (evento) => {
    const contenido = document.querySelector<HTMLElement>('#api-content')
    if (!contenido) return
    evento.preventDefault()
    contenido.tabIndex = -1
    contenido.focus()
  })
}

/** Makes overflowing tables and code blocks focusable, so that arrow keys can scroll them. */
export function makeFocusable(donde: HTMLElement) {
  const updateFocusable = (caja: HTMLElement) => {
    const overflows = caja.scrollWidth > caja.clientWidth || caja.scrollHeight > caja.clientHeight
    if (overflows && !caja.querySelector('a, button')) caja.tabIndex = 0
    else caja.removeAttribute('tabindex')
  }
  const medidas = new ResizeObserver((entries) => {
    for (const { target } of entries) updateFocusable(target as HTMLElement)
  })
  const observedBoxes = new WeakSet<Element>()
  afterEachChange(donde, () => {
    for (const caja of donde.querySelectorAll<HTMLElement>('.md-table-wrapper, pre')) {
      if (!observedBoxes.has(caja)) medidas.observe(caja)
      observedBoxes.add(caja)
    }
  })
}

/**
 * On a narrow screen, moves the focus into the menu when it opens over the content, and back when Escape closes it. The
 * menu precedes its button in the document, so Tab alone would lead to the content behind the menu.
 */
export function focusMenu(donde: HTMLElement) {
  const findButton = (nombre: string) => donde.querySelector<HTMLElement>(`button[aria-label="${nombre}"]`)
  donde.addEventListener('click', ({ target }) => {
    if (!(target as Element).closest('button[aria-label="Abrir el menú"]')) return
    requestAnimationFrame(() => donde.querySelector<HTMLElement>('.menu-content a')?.focus())
  })
  donde.addEventListener('keydown', ({ key }) => {
    const closeButton = key === 'Escape' && findButton('Cerrar el menú')
    if (!closeButton) return
    closeButton.click()
    closeButton.focus()
  })
}
