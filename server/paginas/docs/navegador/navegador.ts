// The reading view's program. The page was written beforehand and can be read: Redoc's own program, nine tenths of the bytes,
// is asked for once it stands there, and the search when somebody searches.
import { conDireccion } from '../direccion.ts'
import { ponerBotonesDeCopiar } from './copiar.ts'

/** The addresses of what is loaded later, relative to the page. */
const recursos = document.querySelector<HTMLElement>('#programa')!.dataset as Record<
  'redoc' | 'contrato' | 'buscador' | 'indice',
  string
>
const completa = (ruta: string) => new URL(ruta, document.baseURI).href
/** The address that serves the page, without a final slash. */
const direccion = completa('.').replace(/\/$/, '')

/** Puts the service's own address into what was written before anybody knew it. */
function ponerDireccion(donde: Node) {
  const textos = document.createTreeWalker(donde, NodeFilter.SHOW_TEXT)
  while (textos.nextNode()) {
    const texto = textos.currentNode as Text
    const puesto = conDireccion(texto.data, direccion)
    if (puesto !== texto.data) texto.data = puesto
  }
}

/** Says whose documentation it is: the name comes with the brand's style, because the page is the same for all. */
function ponerNombre() {
  const nombre = getComputedStyle(document.documentElement).getPropertyValue('--nombre')
  if (nombre) document.querySelector('.barra .marca')!.textContent = JSON.parse(nombre)
}

/** Errors link to #error-<codigo>, for good; Redoc shows only addresses of its own making. */
function llevarAlError() {
  if (/^#error-\w+$/.test(location.hash)) location.replace(`#section/errores${location.hash}`)
}

/** Until the page was painted; in a tab that nobody sees nothing is. */
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
  const { definicion, opciones } = JSON.parse(conDireccion(texto, direccion))
  const donde = document.querySelector<HTMLElement>('#redoc')!
  await hydrate(definicion, opciones, donde)
  ponerBotonesDeCopiar(donde)
}

async function buscar() {
  const { abrirBuscador } = (await import(completa(recursos.buscador))) as typeof import('./buscador.ts')
  await abrirBuscador(completa(recursos.indice))
}

/** Whether a key is written somewhere; a window just closed may still be told of the next one. */
const escribiendo = (donde: EventTarget | null) =>
  donde instanceof HTMLElement &&
  (donde.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(donde.tagName)) &&
  !donde.closest('dialog:not([open])')

// Before Redoc, whose own search knows no chapters, hears of the key.
window.addEventListener(
  'keydown',
  (evento) => {
    const atajo = (evento.ctrlKey || evento.metaKey) && evento.key.toLowerCase() === 'k'
    if (!atajo && (evento.key !== '/' || escribiendo(evento.target))) return
    evento.preventDefault()
    evento.stopImmediatePropagation()
    void buscar()
  },
  { capture: true },
)
const boton = document.querySelector<HTMLButtonElement>('#buscar')!
boton.addEventListener('click', () => void buscar())
if (navigator.userAgent.includes('Mac')) boton.querySelector('kbd')!.textContent = '⌘K'
addEventListener('hashchange', llevarAlError)
llevarAlError()
ponerNombre()
ponerDireccion(document.querySelector('#redoc')!)
void iniciarRedoc()
