// Script of the reading view. The page is generated in advance, and can be read before any script runs. Redoc's own
// program, nine tenths of the bytes, loads after the first paint. The search loads at the first search.
import { withRelativeDays } from '../../../platform/time/relativeDays.ts'
import { conDireccion } from '../direccion.ts'
import { ponerBotonesDeCopiar } from './copiar.ts'
import { hacerAlcanzables, llevarAlMenu, saltarAlContenido } from './teclado.ts'

/** Paths of the files that load later, relative to the page. */
const recursos = document.querySelector<HTMLElement>('#programa')!.dataset as Record<
  'redoc' | 'contrato' | 'buscador' | 'indice',
  string
>
const completa = (ruta: string) => new URL(ruta, document.baseURI).href
/** Base URL from which the page is served, without a final slash. */
const direccion = completa('.').replace(/\/$/, '')

/** Replaces the example addresses in the generated page with the service's own address. */
function ponerDireccion(donde: Node) {
  const textos = document.createTreeWalker(donde, NodeFilter.SHOW_TEXT)
  while (textos.nextNode()) {
    const texto = textos.currentNode as Text
    const puesto = conDireccion(texto.data, direccion)
    if (puesto !== texto.data) texto.data = puesto
  }
}

/**
 * Returns a text that comes with the brand's stylesheet; empty if the stylesheet did not load. The page itself is the
 * same for every brand and on every day.
 */
function deLaHoja(variable: '--nombre' | '--hoy'): string {
  const valor = getComputedStyle(document.documentElement).getPropertyValue(variable)
  return valor && JSON.parse(valor)
}

/** Writes the brand's name into the header. */
function ponerNombre() {
  const nombre = deLaHoja('--nombre')
  if (nombre) document.querySelector('.barra .marca span')!.textContent = nombre
}

/**
 * Redirects `#error-<codigo>`, the permanent address of an error, to an address of Redoc. Redoc only shows addresses
 * that Redoc itself generates.
 */
function llevarAlError() {
  if (/^#error-\w+$/.test(location.hash)) location.replace(`#section/errores${location.hash}`)
}

/** Resolves once the page has been painted; at once in a hidden tab, which is never painted. */
const pintada = () =>
  new Promise<void>((resolve) => {
    if (document.hidden) resolve()
    else requestAnimationFrame(() => setTimeout(resolve))
  })

interface Redoc {
  hydrate(definicion: object, opciones: object, donde: HTMLElement): Promise<void>
}

async function iniciarRedoc() {
  await pintada()
  const [{ hydrate }, texto] = await Promise.all([
    import(completa(recursos.redoc)) as Promise<Redoc>,
    fetch(completa(recursos.contrato)).then((respuesta) => respuesta.text()),
  ])
  const hoy = deLaHoja('--hoy') || new Date().toISOString().slice(0, 10)
  const { definicion, opciones } = JSON.parse(withRelativeDays(conDireccion(texto, direccion), hoy))
  const donde = document.querySelector<HTMLElement>('#redoc')!
  await hydrate(definicion, opciones, donde)
  ponerBotonesDeCopiar(donde)
}

const ventana = document.querySelector<HTMLDialogElement>('#buscador')!
const campo = ventana.querySelector('input')!

/**
 * Opens the search window at once, so that its field receives every key. The results appear when the index has loaded.
 */
function buscar() {
  if (!ventana.open) ventana.showModal()
  campo.select()
  void cargarBusqueda()
}

async function cargarBusqueda() {
  try {
    const { cargarIndice } = (await import(completa(recursos.buscador))) as typeof import('./buscador.ts')
    await cargarIndice(completa(recursos.indice))
  } catch {
    ventana.querySelector('[role="status"]')!.textContent =
      'No se pudo cargar la búsqueda: revise su conexión y ábrala otra vez.'
  }
}

/**
 * Tells whether a key press goes into a text field. A field in a closed dialog does not count: the browser may still
 * send it the next key press.
 */
const escribiendo = (donde: EventTarget | null) =>
  donde instanceof HTMLElement &&
  (donde.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(donde.tagName)) &&
  !donde.closest('dialog:not([open])')

// Captures the event before Redoc does: Redoc's own search does not find chapters.
window.addEventListener(
  'keydown',
  (evento) => {
    const atajo = (evento.ctrlKey || evento.metaKey) && evento.key.toLowerCase() === 'k'
    if (!atajo && (evento.key !== '/' || escribiendo(evento.target))) return
    evento.preventDefault()
    evento.stopImmediatePropagation()
    buscar()
  },
  { capture: true },
)
const boton = document.querySelector<HTMLButtonElement>('#buscar')!
boton.addEventListener('click', buscar)
ventana.querySelector('.cerrar')!.addEventListener('click', () => ventana.close())
ventana.addEventListener('click', (evento) => {
  if (evento.target === ventana) ventana.close()
})
// Browsers that support `commandfor` open the window before this script runs.
if (ventana.open) void cargarBusqueda()
if (navigator.userAgent.includes('Mac')) boton.querySelector('kbd')!.textContent = '⌘K'
addEventListener('hashchange', llevarAlError)
llevarAlError()
ponerNombre()
saltarAlContenido()
const lectura = document.querySelector<HTMLElement>('#redoc')!
ponerDireccion(lectura)
hacerAlcanzables(lectura)
llevarAlMenu(lectura)
void iniciarRedoc()
