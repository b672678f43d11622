import { type ConsoleOperacion, type ConsoleParameter, idsIn } from './operation.ts'

/** Identifiers that responses on this page contained last, by name: `guia`, `webhook`… */
const rememberedIds = new Map<string, string>()

/** Remembers the identifiers in a response body, to fill in the fields of the next operation. */
export function rememberIds(response: unknown) {
  for (const [name, value] of idsIn(response)) rememberedIds.set(name, value)
}

/** Returns an example of a body. If it lists guides, it lists only the remembered one. */
export function fillBody(body: string): string {
  const guia = rememberedIds.get('guia')
  return guia === undefined ? body : body.replace(/("guias": \[)[^[{\]]*\]/, `$1"${guia}"]`)
}

function field({ nombre, en, example, obligatorio, descripcion }: ConsoleParameter, onChange: () => void): HTMLElement {
  const id = `parametro-${nombre}`
  const input = Object.assign(document.createElement('input'), {
    id,
    name: nombre,
    // Optional filters start empty: a filter that the merchant did not choose would hide results.
    value: en === 'ruta' || obligatorio ? (rememberedIds.get(nombre) ?? example) : '',
    placeholder: example,
    autocomplete: 'off',
    spellcheck: false,
    required: obligatorio,
    // A value of spaces alone is refused, because trimming would leave it empty.
    pattern: '.*\\S.*',
  })
  input.setAttribute('autocapitalize', 'none')
  input.addEventListener('input', onChange)
  const etiqueta = Object.assign(document.createElement('label'), { htmlFor: id, textContent: nombre })
  const paragraph = document.createElement('p')
  paragraph.append(etiqueta, input)
  if (descripcion) {
    const hint = Object.assign(document.createElement('span'), {
      id: `${id}-ayuda`,
      className: 'suave',
      textContent: descripcion,
    })
    input.setAttribute('aria-describedby', hint.id)
    paragraph.append(hint)
  }
  return paragraph
}

/**
 * Writes the fields of an operation. Path fields and required fields start with the last remembered identifier of that
 * name, or else with the contract's example.
 */
export function renderFields({ parameters }: ConsoleOperacion, onChange: () => void) {
  const [pathFields, queryFields] = [true, false].map((isInPath) =>
    parameters.filter(({ en }) => (en === 'ruta') === isInPath).map((parameter) => field(parameter, onChange)),
  ) as [HTMLElement[], HTMLElement[]]
  const pathFieldset = document.querySelector<HTMLFieldSetElement>('#de-ruta')!
  pathFieldset.replaceChildren(pathFieldset.firstElementChild!, ...pathFields)
  pathFieldset.hidden = pathFields.length === 0
  const queryDetails = document.querySelector<HTMLDetailsElement>('#de-consulta')!
  queryDetails.querySelector('div')!.replaceChildren(...queryFields)
  queryDetails.hidden = queryFields.length === 0
  queryDetails.open = parameters.some(({ en, obligatorio }) => en === 'consulta' && obligatorio)
}

/** Returns the trimmed values of the fields, by field name. */
export const readFields = (form: HTMLFormElement): Map<string, string> =>
  new Map([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]))
