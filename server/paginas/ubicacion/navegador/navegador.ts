// What the page does beyond its HTML: the phone's position, the map when it is wanted, and sending that survives bad
// coverage. Everything works without it, with a link.
import { prepararMapa } from './abrirMapa.ts'
import { prepararEnvio } from './enviar.ts'
import { guardar, olvidar, recordar } from './formulario.ts'
import { prepararLugar } from './lugar.ts'
import { prepararPosicion } from './posicion.ts'

/** Sets up what stands in <main>: the page as it came, or one that was put in its place. */
function iniciar() {
  const formulario = document.querySelector<HTMLFormElement>('form[data-formulario]')
  if (!formulario) return olvidar()
  prepararEnvio(formulario, sustituir)
  const enlace = document.querySelector<HTMLInputElement>('#enlace')
  if (!enlace) return
  if (formulario.dataset.nuevo !== undefined) recordar(formulario)
  for (const parte of document.querySelectorAll<HTMLElement>('[data-con-js]')) parte.hidden = false
  const plegable = document.querySelector<HTMLDetailsElement>('#con-enlace')!
  plegable.open = enlace.value !== '' || enlace.getAttribute('aria-invalid') === 'true'
  const lugar = prepararLugar(formulario)
  prepararPosicion(lugar)
  prepararMapa(lugar)
  enlace.addEventListener('input', () => {
    if (enlace.value.trim()) lugar.elegir('enlace')
    else if (lugar.metodo() === 'enlace') lugar.elegir('')
  })
  formulario.addEventListener('input', () => guardar(formulario))
}

/** Puts the page that was answered in the place of this one, as following the form would have done. */
function sustituir(pagina: string) {
  const nueva = new DOMParser().parseFromString(pagina, 'text/html')
  const contenido = nueva.querySelector('main')
  if (!contenido) return location.reload()
  document.title = nueva.title
  document.querySelector('main')!.replaceWith(document.importNode(contenido, true))
  scrollTo(0, 0)
  iniciar()
  document.querySelector<HTMLElement>('#errores, h1')?.focus()
}

iniciar()
document.querySelector<HTMLElement>('#errores')?.focus()
