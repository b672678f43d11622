// Results of the documentation's search. The page itself contains the search window; this module is loaded at the first
// search.
import { crearBusqueda, fragmento, type SearchPart } from './buscar.ts'

function elemento<Nombre extends 'b' | 'li' | 'span'>(
  nombre: Nombre,
  propiedades: Readonly<Record<string, unknown>> = {},
  ...dentro: (Node | string)[]
): HTMLElementTagNameMap[Nombre] {
  const creado = document.createElement(nombre)
  Object.assign(creado, propiedades)
  creado.append(...dentro)
  return creado
}

const ventana = document.querySelector<HTMLDialogElement>('#buscador')!
const campo = ventana.querySelector('input')!
const lista = ventana.querySelector('ul')!
const aviso = ventana.querySelector('p')!

let busqueda: ReturnType<typeof crearBusqueda> | undefined
let elegida = 0

function elegir(cual: number) {
  const opciones = [...lista.children]
  elegida = opciones.length === 0 ? 0 : (cual + opciones.length) % opciones.length
  for (const [i, opcion] of opciones.entries()) opcion.setAttribute('aria-selected', String(i === elegida))
  const opcion = opciones[elegida]
  campo.setAttribute('aria-activedescendant', opcion?.id ?? '')
  opcion?.scrollIntoView({ block: 'nearest' })
}

function abrir(lugar: string) {
  ventana.close()
  // Setting the same hash again does not scroll. A reader who has scrolled away still expects to get back to the place,
  // so the script scrolls.
  if (location.hash === `#${lugar}`) document.getElementById(lugar.replace(/^\//, ''))?.scrollIntoView()
  else location.hash = lugar
}

function opcion({ clase, titulo, lugar, de, texto }: SearchPart, i: number): HTMLLIElement {
  const creada = elemento(
    'li',
    { id: `hallado-${i}`, role: 'option' },
    elemento('span', { className: 'clase' }, clase),
    elemento('b', {}, titulo),
    ...(de ? [elemento('span', { className: 'de' }, de)] : []),
    elemento('span', { className: 'texto' }, fragmento(texto, campo.value)),
  )
  creada.dataset.lugar = lugar
  creada.addEventListener('click', () => abrir(lugar))
  creada.addEventListener('pointermove', () => elegida !== i && elegir(i))
  return creada
}

function mostrar() {
  const pregunta = campo.value.trim()
  const halladas = pregunta && busqueda ? busqueda(pregunta) : []
  lista.replaceChildren(...halladas.map(opcion))
  lista.hidden = halladas.length === 0
  aviso.className = halladas.length > 0 ? 'oculto' : 'nada'
  aviso.textContent = !pregunta
    ? 'Un capítulo, una operación, un campo o un código de error.'
    : halladas.length === 0
      ? `Nada coincide con «${pregunta}».`
      : `${halladas.length} ${halladas.length === 1 ? 'resultado' : 'resultados'}`
  elegir(0)
}

campo.addEventListener('input', mostrar)
campo.addEventListener('keydown', (evento) => {
  if (evento.key === 'ArrowDown') elegir(elegida + 1)
  else if (evento.key === 'ArrowUp') elegir(elegida - 1)
  else if (evento.key === 'Enter') {
    const lugar = (lista.children[elegida] as HTMLElement | undefined)?.dataset.lugar
    if (lugar) abrir(lugar)
  } else return
  evento.preventDefault()
})

/**
 * Loads the index, and shows the results for the text that the field contains by then.
 * @param indice URL of the search index
 */
export async function cargarIndice(indice: string) {
  busqueda ??= crearBusqueda((await (await fetch(indice)).json()) as SearchPart[])
  mostrar()
}
