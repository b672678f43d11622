// Program of the recipient's page. It adds to the HTML: two steps, the phone's position, the map on demand, and sending
// that survives bad coverage. Without the program, a link or a description still works.
import { prepararEnvio } from './enviar.ts'
import { guardar, olvidarCampos, recordar } from './formulario.ts'
import { Llenado } from './llenado.ts'

/** Wait until a page that reads a link is loaded again, in milliseconds. */
const LECTURA_MS = 4_000

/** Prepares the content of `<main>`: the page as it was loaded, or the page that replaced it. */
function iniciar() {
  const formulario = document.querySelector<HTMLFormElement>('form[data-formulario]')
  const recargar = document.querySelector('[data-recargar]')
  if (recargar) setTimeout(() => recargar.isConnected && location.reload(), LECTURA_MS)
  // A confirmed location leaves no fields to remember.
  if (!formulario || formulario.dataset.confirmado !== undefined) olvidarCampos()
  if (!formulario) return
  // The question whether a far location is right has no fields to fill in.
  if (!document.getElementById('lugar')) return prepararEnvio(formulario, sustituir, () => false)
  if (formulario.dataset.nuevo !== undefined) recordar(formulario)
  for (const parte of document.querySelectorAll<HTMLElement>('[data-con-js]')) parte.hidden = false
  const llenado = new Llenado(formulario)
  prepararEnvio(formulario, sustituir, () => llenado.queFalta())
  formulario.addEventListener('input', () => guardar(formulario))
  document.getElementById('errores')?.addEventListener('click', llevarAlCampo)
  fijarBarra(formulario)
}

/** Moves from a fault to its field without an entry in the browser's history, which holds the form's own steps. */
function llevarAlCampo(evento: MouseEvent) {
  const enlace = (evento.target as HTMLElement).closest('a')
  if (!enlace) return
  evento.preventDefault()
  const campo = document.querySelector<HTMLElement>(enlace.hash)
  campo?.scrollIntoView({ block: 'center' })
  campo?.focus({ preventScroll: true })
}

/** Keeps the action bar at the bottom of the window. Reserves as much space below the form as the bar covers. */
function fijarBarra(formulario: HTMLFormElement) {
  const barra = formulario.querySelector<HTMLElement>('.barra')!
  barra.classList.add('fija')
  const medir = () => {
    const alto = getComputedStyle(barra).position === 'fixed' ? barra.offsetHeight : 0
    document.body.style.paddingBottom = `${alto}px`
    // The bar must not cover the focused element either.
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
