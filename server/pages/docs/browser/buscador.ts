// Search window of the documentation, loaded at the first search.
import { crearBusqueda, fragmento, type SearchPart } from './buscar.ts'

function elemento<Nombre extends 'b' | 'button' | 'dialog' | 'div' | 'input' | 'li' | 'p' | 'span' | 'ul'>(
  nombre: Nombre,
  propiedades: Readonly<Record<string, unknown>> = {},
  ...dentro: (Node | string)[]
): HTMLElementTagNameMap[Nombre] {
  const creado = document.createElement(nombre)
  Object.assign(creado, propiedades)
  creado.append(...dentro)
  return creado
}

const campo = elemento('input', {
  type: 'text',
  placeholder: 'Buscar en la documentación',
  autocomplete: 'off',
  spellcheck: false,
  enterKeyHint: 'go',
  role: 'combobox',
})
const lista = elemento('ul', { id: 'hallado', role: 'listbox', ariaLabel: 'Resultados' })
const aviso = elemento('p', { role: 'status', className: 'nada' })
const cerrar = elemento('button', { type: 'button', className: 'cerrar' }, 'Cerrar')
const ventana = elemento(
  'dialog',
  { className: 'buscador', ariaLabel: 'Buscar en la documentación' },
  elemento('div', { className: 'pregunta' }, campo, cerrar),
  lista,
  aviso,
  elemento('p', { className: 'teclas', ariaHidden: 'true' }, '↑ ↓ moverse · Entrar abrir · Esc cerrar'),
)
for (const [nombre, valor] of [
  ['aria-label', 'Buscar en la documentación'],
  ['aria-controls', lista.id],
  ['aria-expanded', 'true'],
  ['aria-autocomplete', 'list'],
] as const) {
  campo.setAttribute(nombre, valor)
}

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
  // Assigning the same hash does not scroll, but a reader who scrolled away wants to return to the place.
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
cerrar.addEventListener('click', () => ventana.close())
ventana.addEventListener('click', (evento) => {
  if (evento.target === ventana) ventana.close()
})
document.body.append(ventana)

/**
 * Opens the search window. Loads the index when the window is first opened.
 * @param indice URL of the search index
 */
export async function abrirBuscador(indice: string) {
  if (ventana.open) return campo.select()
  ventana.showModal()
  campo.select()
  mostrar()
  try {
    busqueda ??= crearBusqueda((await (await fetch(indice)).json()) as SearchPart[])
    mostrar()
  } catch {
    aviso.className = 'nada'
    aviso.textContent = 'No se pudo cargar la búsqueda: revise su conexión y ábrala otra vez.'
  }
}
