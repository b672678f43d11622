// The form holds the state: its hidden fields contain the chosen location. The fields are also saved in
// `sessionStorage`, because Android may drop the page while the recipient looks for a link in another app.
const STORAGE_KEY = `ubicacion:${location.pathname}`
const CAMPOS = ['lat', 'lng', 'precision_m', 'metodo', 'enlace', 'referencia'] as const

/** Returns a field of the form; null if the form has no field of that name. */
export const field = (form: HTMLFormElement, name: string) => form.elements.namedItem(name) as HTMLInputElement | null
/**
 * Writes a status line of the page.
 * @param className CSS class that says whether the news is good, such as `problema`
 */
export const showStatus = (id: string, text: string, className = '') => {
  const where = document.getElementById(id)
  if (!where) return
  where.className = `estado ${className}`
  where.textContent = text
}
/** Shows the fault of a field; an empty message clears the fault. */
export function showFieldFault(id: 'enlace' | 'referencia', mensaje: string) {
  const error = document.getElementById(`error-${id}`)!
  const where = document.getElementById(id)!
  error.textContent = mensaje
  error.hidden = mensaje === ''
  if (mensaje) where.setAttribute('aria-invalid', 'true')
  else where.removeAttribute('aria-invalid')
}

/** Saves the fields of the form for this tab. */
export function saveFields(form: HTMLFormElement) {
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(CAMPOS.map((name) => field(form, name)?.value ?? '')))
  } catch {} // private windows may have no storage
}

/** Restores the saved fields of the form. */
export function restoreFields(form: HTMLFormElement) {
  try {
    const values = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '[]') as unknown[]
    CAMPOS.forEach((name, i) => {
      const where = field(form, name)
      if (where && typeof values[i] === 'string') where.value = values[i]
    })
  } catch {}
}

/** Deletes the saved fields of the form. */
export function forgetFields() {
  try {
    sessionStorage.removeItem(STORAGE_KEY)
  } catch {}
}
