// Script of the recipient's page. It divides the form into two steps, finds the phone's position, opens the map on
// demand, and sends the form again after bad coverage. Without the script, a link or a description still works.
import { prepararEnvio } from './enviar.ts'
import { guardar, olvidarCampos, recordar } from './formulario.ts'
import { Llenado } from './llenado.ts'

/** Delay before the page is loaded again while the service reads a short link, in milliseconds. */
const LECTURA_MS = 4_000

/** Prepares the content of `<main>`: the page as it was loaded, or the page that replaced it. */
function iniciar() {
  const formulario = document.querySelector<HTMLFormElement>('form[data-formulario]')
  const recargar = document.querySelector('[data-recargar]')
  if (recargar) setTimeout(() => recargar.isConnected && location.reload(), LECTURA_MS)
  // Once the location is confirmed, the saved fields are no longer needed.
  if (!formulario || formulario.dataset.confirmado !== undefined) olvidarCampos()
  if (!formulario) return
  // The page that asks whether a far location is right has no fields to restore.
  if (!document.getElementById('lugar')) return prepararEnvio(formulario, sustituir, () => false)
  if (formulario.dataset.nuevo !== undefined) recordar(formulario)
  for (const parte of document.querySelectorAll<HTMLElement>('[data-con-js]')) parte.hidden = false
  const llenado = new Llenado(formulario)
  prepararEnvio(formulario, sustituir, () => llenado.queFalta())
  formulario.addEventListener('input', () => guardar(formulario))
  document.getElementById('errores')?.addEventListener('click', llevarAlCampo)
  fijarBarra(formulario)
}

/**
 * Moves the focus from a fault to its field. Adds no entry to the browser's history, which contains the form's steps.
 */
function llevarAlCampo(evento: MouseEvent) {
  const enlace = (evento.target as HTMLElement).closest('a')
  if (!enlace) return
  evento.preventDefault()
  const campo = document.querySelector<HTMLElement>(enlace.hash)
  campo?.scrollIntoView({ block: 'center' })
  campo?.focus({ preventScroll: true })
}

/** Width of the form in characters below which a fixed action bar would cover too much of the window. */
const ANCHO_MINIMO = 14

/**
 * Keeps the action bar at the bottom of the window, unless the text size is large. Reserves as much space below the
 * form as the bar covers. Within a container query, older browsers would fix the bar to the form instead of the window.
 */
function fijarBarra(formulario: HTMLFormElement) {
  const barra = formulario.querySelector<HTMLElement>('.barra')!
  const medir = () => {
    const letra = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    barra.classList.toggle('fija', formulario.offsetWidth >= ANCHO_MINIMO * letra)
    const alto = getComputedStyle(barra).position === 'fixed' ? barra.offsetHeight : 0
    document.body.style.paddingBottom = `${alto}px`
    // The fixed action bar must not cover the focused element either.
    document.documentElement.style.scrollPaddingBottom = `${alto + 16}px`
  }
  medir()
  if ('ResizeObserver' in window) new ResizeObserver(medir).observe(barra)
}

/** Replaces the page with the returned page, as a normal submission of the form would have done. */
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
