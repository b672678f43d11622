/** Calls `hacer` in the next frame, and again after each change of the elements below `donde`. */
export function trasCadaCambio(donde: HTMLElement, hacer: () => void) {
  let pedido = false
  const pedir = () => {
    if (pedido) return
    pedido = true
    requestAnimationFrame(() => {
      pedido = false
      hacer()
    })
  }
  new MutationObserver(pedir).observe(donde, { childList: true, subtree: true })
  pedir()
}
