const NOMBRE = 'guias.llave'

/**
 * Remembers the key in this tab's `sessionStorage` while the box is ticked. Only test keys (`guia_test_…`) are stored.
 */
export function recordarLlave(llave: HTMLInputElement, casilla: HTMLInputElement) {
  const guardada = sessionStorage.getItem(NOMBRE)
  casilla.checked = guardada !== null
  llave.value = guardada ?? ''
  const guardar = () => {
    if (casilla.checked && llave.value.startsWith('guia_test_')) sessionStorage.setItem(NOMBRE, llave.value.trim())
    else sessionStorage.removeItem(NOMBRE)
  }
  casilla.addEventListener('change', guardar)
  llave.addEventListener('input', guardar)
}
