// Results of the documentation's search. The page itself contains the search window; this module is loaded at the first
// search.
import { createSearch, excerptOf, type SearchPart } from './search.ts'

function createElement<Nombre extends 'b' | 'li' | 'span'>(
  name: Nombre,
  properties: Readonly<Record<string, unknown>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Nombre] {
  const element = document.createElement(name)
  Object.assign(element, properties)
  element.append(...children)
  return element
}

const ventana = document.querySelector<HTMLDialogElement>('#buscador')!
const field = ventana.querySelector('input')!
const resultList = ventana.querySelector('ul')!
const aviso = ventana.querySelector('p')!

let search: ReturnType<typeof createSearch> | undefined
let chosenIndex = 0
let direccion = ''

function choose(index: number) {
  const options = [...resultList.children]
  chosenIndex = options.length === 0 ? 0 : (index + options.length) % options.length
  for (const [i, option] of options.entries()) option.setAttribute('aria-selected', String(i === chosenIndex))
  const option = options[chosenIndex]
  field.setAttribute('aria-activedescendant', option?.id ?? '')
  option?.scrollIntoView({ block: 'nearest' })
}

function openPlace(place: string) {
  ventana.close()
  const url = `${direccion}/${place}`
  // Going to the same address again does not scroll. A reader who has scrolled away still expects to get back to the
  // place, so the script scrolls.
  if (location.href !== url) location.assign(url)
  else document.getElementById(location.hash.replace(/^#\/?/, ''))?.scrollIntoView()
}

function option({ clase, titulo, lugar, de, texto }: SearchPart, i: number): HTMLLIElement {
  const item = createElement(
    'li',
    { id: `hallado-${i}`, role: 'option' },
    createElement('span', { className: 'clase' }, clase),
    createElement('b', {}, titulo),
    ...(de ? [createElement('span', { className: 'de' }, de)] : []),
    createElement('span', { className: 'texto' }, excerptOf(texto, field.value)),
  )
  item.dataset.lugar = lugar
  item.addEventListener('click', () => openPlace(lugar))
  item.addEventListener('pointermove', () => chosenIndex !== i && choose(i))
  return item
}

function showResults() {
  const question = field.value.trim()
  const results = question && search ? search(question) : []
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

field.addEventListener('input', showResults)
field.addEventListener('keydown', (evento) => {
  if (evento.key === 'ArrowDown') choose(chosenIndex + 1)
  else if (evento.key === 'ArrowUp') choose(chosenIndex - 1)
  else if (evento.key === 'Enter') {
    const place = (resultList.children[chosenIndex] as HTMLElement | undefined)?.dataset.lugar
    if (place) openPlace(place)
  } else return
  evento.preventDefault()
})

/**
 * Loads the index, and shows the results for the text that the field contains by then.
 * @param index URL of the search index
 * @param base base URL from which the page is served, without a final slash
 */
export async function loadIndex(index: string, base: string) {
  direccion = base
  search ??= createSearch((await (await fetch(index)).json()) as SearchPart[])
  showResults()
}
