// The form is the state: what is chosen stands in its hidden fields. What was filled in outlives the page, because Android
// drops it while the person is looking for a link in another app.
const MEMORIA = `ubicacion:${location.pathname}`
const CAMPOS = ['lat', 'lng', 'precision_m', 'metodo', 'enlace', 'referencia'] as const

/** A field of the form. */
export const campo = (formulario: HTMLFormElement, nombre: string) =>
  formulario.elements.namedItem(nombre) as HTMLInputElement | null
/** Says in one of the page's lines how something stands; `clase` says whether it is good news. */
export const decir = (id: string, texto: string, clase = '') => {
  const donde = document.getElementById(id)
  if (!donde) return
  donde.className = `estado ${clase}`
  donde.textContent = texto
}
/** Says at a field what is wrong with it, or that nothing is. */
export function culpar(id: 'enlace' | 'referencia', mensaje: string) {
  const error = document.getElementById(`error-${id}`)!
  const donde = document.getElementById(id)!
  error.textContent = mensaje
  error.hidden = mensaje === ''
  if (mensaje) donde.setAttribute('aria-invalid', 'true')
  else donde.removeAttribute('aria-invalid')
}

export function guardar(formulario: HTMLFormElement) {
  try {
    sessionStorage.setItem(MEMORIA, JSON.stringify(CAMPOS.map((nombre) => campo(formulario, nombre)?.value ?? '')))
  } catch {} // private windows may have no storage
}

export function recordar(formulario: HTMLFormElement) {
  try {
    const valores = JSON.parse(sessionStorage.getItem(MEMORIA) ?? '[]') as unknown[]
    CAMPOS.forEach((nombre, i) => {
      const donde = campo(formulario, nombre)
      if (donde && typeof valores[i] === 'string') donde.value = valores[i]
    })
  } catch {}
}

export function olvidar() {
  try {
    sessionStorage.removeItem(MEMORIA)
  } catch {}
}
