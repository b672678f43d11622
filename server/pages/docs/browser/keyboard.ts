/** Keyboard support of the reading view, where Redoc's own is incomplete. */

import { afterEachChange } from './changes.ts'

/** Moves the focus to the content. Leaves the address unchanged, because Redoc interprets its hash. */
export function skipToContent() {
  document.querySelector('.saltar')!.addEventListener('click', (evento) => {
    const content = document.querySelector<HTMLElement>('#api-content')
    if (!content) return
    evento.preventDefault()
    content.tabIndex = -1
    content.focus()
  })
}

/** Makes overflowing tables and code blocks focusable, so that arrow keys can scroll them. */
export function makeFocusable(where: HTMLElement) {
  const updateFocusable = (box: HTMLElement) => {
    const overflows = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight
    if (overflows && !box.querySelector('a, button')) box.tabIndex = 0
    else box.removeAttribute('tabindex')
  }
  const measures = new ResizeObserver((entries) => {
    for (const { target } of entries) updateFocusable(target as HTMLElement)
  })
  const observedBoxes = new WeakSet<Element>()
  afterEachChange(where, () => {
    for (const box of where.querySelectorAll<HTMLElement>('.md-table-wrapper, .tabla, pre')) {
      if (!observedBoxes.has(box)) measures.observe(box)
      observedBoxes.add(box)
    }
  })
}

/**
 * On a narrow screen, moves the focus into the menu when it opens over the content, and back when Escape closes it. The
 * menu precedes its button in the document, so Tab alone would lead to the content behind the menu.
 */
export function focusMenu(where: HTMLElement) {
  const findButton = (name: string) => where.querySelector<HTMLElement>(`button[aria-label="${name}"]`)
  where.addEventListener('click', ({ target }) => {
    if (!(target as Element).closest('button[aria-label="Abrir el menú"]')) return
    requestAnimationFrame(() => where.querySelector<HTMLElement>('.menu-content a')?.focus())
  })
  where.addEventListener('keydown', ({ key }) => {
    const closeButton = key === 'Escape' && findButton('Cerrar el menú')
    if (!closeButton) return
    closeButton.click()
    closeButton.focus()
  })
}
