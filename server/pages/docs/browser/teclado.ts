/** Use of the reading view with the keyboard alone, where Redoc leaves something out. */

import { trasCadaCambio } from './cambios.ts'

/** Moves the focus to the content. The address stays, because Redoc reads its hash as a place of its own. */
export function saltarAlContenido() {
  document.querySelector('.saltar')!.addEventListener('click', (evento) => {
    const contenido = document.querySelector<HTMLElement>('#api-content')
    if (!contenido) return
    evento.preventDefault()
    contenido.tabIndex = -1
    contenido.focus()
  })
}

/** Makes tables and code that are wider or higher than their place reachable, so that arrow keys scroll them. */
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
 * Takes the focus along when the menu opens over the content of a narrow screen, and back with Escape. The menu stands
 * before its button, so the next Tab would lead to the content behind it.
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
