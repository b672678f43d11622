/** Keyboard support of the reading view, where Redoc's own is incomplete. */

import { trasCadaCambio } from './cambios.ts'

/** Moves the focus to the content. Leaves the address unchanged, because Redoc interprets its hash. */
export function saltarAlContenido() {
  document.querySelector('.saltar')!.addEventListener('click', (evento) => {
    const contenido = document.querySelector<HTMLElement>('#api-content')
    if (!contenido) return
    evento.preventDefault()
    contenido.tabIndex = -1
    contenido.focus()
  })
}

/** Makes overflowing tables and code blocks focusable, so that arrow keys can scroll them. */
export function hacerAlcanzables(donde: HTMLElement) {
  const medir = (caja: HTMLElement) => {
    const sobra = caja.scrollWidth > caja.clientWidth || caja.scrollHeight > caja.clientHeight
    if (sobra && !caja.querySelector('a, button')) caja.tabIndex = 0
    else caja.removeAttribute('tabindex')
  }
  const medidas = new ResizeObserver((unas) => {
    for (const { target } of unas) medir(target as HTMLElement)
  })
  const vistas = new WeakSet<Element>()
  trasCadaCambio(donde, () => {
    for (const caja of donde.querySelectorAll<HTMLElement>('.md-table-wrapper, pre')) {
      if (!vistas.has(caja)) medidas.observe(caja)
      vistas.add(caja)
    }
  })
}

/**
 * On a narrow screen, moves the focus into the menu when it opens over the content, and back when Escape closes it. The
 * menu precedes its button in the document, so Tab alone would lead to the content behind the menu.
 */
export function llevarAlMenu(donde: HTMLElement) {
  const boton = (nombre: string) => donde.querySelector<HTMLElement>(`button[aria-label="${nombre}"]`)
  donde.addEventListener('click', ({ target }) => {
    if (!(target as Element).closest('button[aria-label="Abrir el menú"]')) return
    requestAnimationFrame(() => donde.querySelector<HTMLElement>('.menu-content a')?.focus())
  })
  donde.addEventListener('keydown', ({ key }) => {
    const cerrar = key === 'Escape' && boton('Cerrar el menú')
    if (!cerrar) return
    cerrar.click()
    cerrar.focus()
  })
}
