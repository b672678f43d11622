// The form holds the state: its hidden fields contain the chosen location. The fields are also saved in
// `sessionStorage`, because Android may drop the page while the recipient looks for a link in another app.
const MEMORIA = `ubicacion:${location.pathname}`
const CAMPOS = ['lat', 'lng', 'precision_m', 'metodo', 'enlace', 'referencia'] as const

/** Returns a field of the form; null if the form has no field of that name. */
export const campo = (formulario: HTMLFormElement, nombre: string) =>
  formulario.elements.namedItem(nombre) as HTMLInputElement | null
/**
 * Writes a status line of the page.
 * @param clase CSS class that says whether the news is good, such as `problema`
 */
export const decirEstado = (id: string, texto: string, clase = '') => {
  const donde = document.getElementById(id)
  if (!donde) return
  donde.className = `estado ${clase}`
  donde.textContent = texto
}
/** Shows the fault of a field; an empty message clears the fault. */
export function culpar(id: 'enlace' | 'referencia', mensaje: string) {
  const error = document.getElementById(`error-${id}`)!
  const donde = document.getElementById(id)!
  error.textContent = mensaje
  error.hidden = mensaje === ''
  if (mensaje) donde.setAttribute('aria-invalid', 'true')
  else donde.removeAttribute('aria-invalid')
}

/** Saves the fields of the form for this tab. */
export function guardar(formulario: HTMLFormElement) {
  try {
    sessionStorage.setItem(MEMORIA, JSON.stringify(CAMPOS.map((nombre) => campo(formulario, nombre)?.value ?? '')))
  } catch {} // private windows may have no storage
}

/** Restores the saved fields of the form. */
export function recordar(formulario: HTMLFormElement) {
  try {
    const valores = JSON.parse(sessionStorage.getItem(MEMORIA) ?? '[]') as unknown[]
    CAMPOS.forEach((nombre, i) => {
      const donde = campo(formulario, nombre)
      if (donde && typeof valores[i] === 'string') donde.value = valores[i]
    })
  } catch {}
}

/** Deletes the saved fields of the form. */
export function olvidarCampos() {
  try {
    sessionStorage.removeItem(MEMORIA)
  } catch {}
}
