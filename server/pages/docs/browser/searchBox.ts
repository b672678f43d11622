// Results of the documentation's search. The page itself contains the search window; this module is loaded at the first
// search.
import { createSearch, excerptOf, type SearchPart } from './search.ts'

function createElement<Nombre extends 'b' | 'li' | 'span'>(
  nombre: Nombre,
  properties: Readonly<Record<string, unknown>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Nombre] {
  const element = document.createElement(nombre)
  Object.assign(element, properties)
  element.append(...children)
  return element
}

const ventana = document.querySelector<HTMLDialogElement>('#buscador')!
const campo = ventana.querySelector('input')!
const resultList = ventana.querySelector('ul')!
const aviso = ventana.querySelector('p')!

let busqueda: ReturnType<typeof createSearch> | undefined
let chosenIndex = 0

function choose(index: number) {
  const opciones = [...resultList.children]
  chosenIndex = opciones.length === 0 ? 0 : (index + opciones.length) % opciones.length
  for (const [i, option] of opciones.entries()) option.setAttribute('aria-selected', String(i === chosenIndex))
  const option = opciones[chosenIndex]
  campo.setAttribute('aria-activedescendant', option?.id ?? '')
  option?.scrollIntoView({ block: 'nearest' })
}

function openPlace(lugar: string) {
  ventana.close()
  // Setting the same hash again does not scroll. A reader who has scrolled away still expects to get back to the place,
  // so the script scrolls.
  if (location.hash === `#${lugar}`) document.getElementById(lugar.replace(/^\//, ''))?.scrollIntoView()
  else location.hash = lugar
}

function option({ clase, titulo, lugar, de, texto }: SearchPart, i: number): HTMLLIElement {
  const item = createElement(
    'li',
    { id: `hallado-${i}`, role: 'option' },
    createElement('span', { className: 'clase' }, clase),
    createElement('b', {}, titulo),
    ...(de ? [createElement('span', { className: 'de' }, de)] : []),
    createElement('span', { className: 'texto' }, excerptOf(texto, campo.value)),
  )
  item.dataset.lugar = lugar
  item.addEventListener('click', () => openPlace(lugar))
  item.addEventListener('pointermove', () => chosenIndex !== i && choose(i))
  return item
}

function showResults() {
  const question = campo.value.trim()
  const results = question && busqueda ? busqueda(question) : []
  resultList.replaceChildren(...results.map(option))
  resultList.hidden = results.length === 0
  aviso.className = results.length > 0 ? 'oculto' : 'nada'
  aviso.textContent = !question
    ? 'Un capítulo, una operación, un campo o un código de error.'
    : results.length === 0
      ? `Nada coincide con «${question}».`
      : `${results.length} ${results.length === 1 ? 'resultado' : 'resultados'}`
  choose(0)
}

campo.addEventListener('input', showResults)
campo.addEventListener('keydown', (evento) => {
  if (evento.key === 'ArrowDown') choose(chosenIndex + 1)
  else if (evento.key === 'ArrowUp') choose(chosenIndex - 1)
  else if (evento.key === 'Enter') {
    const lugar = (resultList.children[chosenIndex] as HTMLElement | undefined)?.dataset.lugar
    if (lugar) openPlace(lugar)
  } else return
  evento.preventDefault()
})

/**
 * Loads the index, and shows the results for the text that the field contains by then.
 * @param indice URL of the search index
 */
export async function loadIndex(indice: string) {
  busqueda ??= createSearch((await (await fetch(indice)).json()) as SearchPart[])
  showResults()
}
