// What the page does beyond its HTML: two steps, the phone's position, the map when it is wanted, and sending that survives
// bad coverage. Everything works without it, with a link or a description.
import { prepararEnvio } from './enviar.ts'
import { guardar, olvidar, recordar } from './formulario.ts'
import { Llenado } from './llenado.ts'

/** Sets up what stands in <main>: the page as it came, or one that was put in its place. */
function iniciar() {
  const formulario = document.querySelector<HTMLFormElement>('form[data-formulario]')
  if (!formulario) return olvidar()
  // The question whether a far place is meant has nothing to fill in.
  if (!document.getElementById('lugar')) return prepararEnvio(formulario, sustituir, () => false)
  if (formulario.dataset.nuevo !== undefined) recordar(formulario)
  for (const parte of document.querySelectorAll<HTMLElement>('[data-con-js]')) parte.hidden = false
  const llenado = new Llenado(formulario)
  prepararEnvio(formulario, sustituir, () => llenado.queFalta())
  formulario.addEventListener('input', () => guardar(formulario))
  document.getElementById('errores')?.addEventListener('click', llevarAlCampo)
  fijarBarra(formulario)
}

/** Leads from a fault to its field, without a step in the browser's history, where the form's own steps are. */
function llevarAlCampo(evento: MouseEvent) {
  const enlace = (evento.target as HTMLElement).closest('a')
  if (!enlace) return
  evento.preventDefault()
  const campo = document.querySelector<HTMLElement>(enlace.hash)
  campo?.scrollIntoView({ block: 'center' })
  campo?.focus({ preventScroll: true })
}

/** Keeps the bar of actions at the window's bottom, and as much room below the form as the bar covers. */
function fijarBarra(formulario: HTMLFormElement) {
  const barra = formulario.querySelector<HTMLElement>('.barra')!
  barra.classList.add('fija')
  const medir = () => {
    const alto = getComputedStyle(barra).position === 'fixed' ? barra.offsetHeight : 0
    document.body.style.paddingBottom = `${alto}px`
    // What gets the focus isn't covered either.
    document.documentElement.style.scrollPaddingBottom = `${alto + 16}px`
  }
  medir()
  if ('ResizeObserver' in window) new ResizeObserver(medir).observe(barra)
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
