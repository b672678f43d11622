const STORAGE_KEY = 'guias.llave'

/**
 * Remembers the key in this tab's `sessionStorage` while the box is ticked. Only test keys (`guia_test_…`) are stored.
 */
export function rememberLlave(llave: HTMLInputElement, checkbox: HTMLInputElement) {
  const storedLlave = sessionStorage.getItem(STORAGE_KEY)
  checkbox.checked = storedLlave !== null
  llave.value = storedLlave ?? ''
  const store = () => {
    if (checkbox.checked && llave.value.startsWith('guia_test_'))
      sessionStorage.setItem(STORAGE_KEY, llave.value.trim())
    else sessionStorage.removeItem(STORAGE_KEY)
  }
  checkbox.addEventListener('change', store)
  llave.addEventListener('input', store)
}
