import { type ConsoleParameter, identificadoresDe, type OperacionDeConsola } from './operacion.ts'

/** Identifiers that responses on this page contained last, by name: `guia`, `webhook`… */
const recordados = new Map<string, string>()

/** Remembers the identifiers in a response body, to fill in the fields of the next operation. */
export function recordarIdentificadores(respuesta: unknown) {
  for (const [nombre, valor] of identificadoresDe(respuesta)) recordados.set(nombre, valor)
}

function campo(
  { nombre, en, ejemplo, obligatorio, descripcion }: ConsoleParameter,
  alCambiar: () => void,
): HTMLElement {
  const id = `parametro-${nombre}`
  const entrada = Object.assign(document.createElement('input'), {
    id,
    name: nombre,
    // Optional filters start empty: a filter that the merchant did not choose would hide results.
    value: en === 'ruta' || obligatorio ? (recordados.get(nombre) ?? ejemplo) : '',
    placeholder: ejemplo,
    autocomplete: 'off',
    spellcheck: false,
    required: obligatorio,
    // A value of spaces alone is refused, because trimming would leave it empty.
    pattern: '.*\\S.*',
  })
  entrada.setAttribute('autocapitalize', 'none')
  entrada.addEventListener('input', alCambiar)
  const etiqueta = Object.assign(document.createElement('label'), { htmlFor: id, textContent: nombre })
  const junto = document.createElement('p')
  junto.append(etiqueta, entrada)
  if (descripcion) {
    const ayuda = Object.assign(document.createElement('span'), {
      id: `${id}-ayuda`,
      className: 'suave',
      textContent: descripcion,
    })
    entrada.setAttribute('aria-describedby', ayuda.id)
    junto.append(ayuda)
  }
  return junto
}

/**
 * Writes the fields of an operation. Path fields and required fields start with the last remembered identifier of that
 * name, or else with the contract's example.
 */
export function escribirCampos({ parametros }: OperacionDeConsola, alCambiar: () => void) {
  const [deRuta, deConsulta] = [true, false].map((esDeRuta) =>
    parametros.filter(({ en }) => (en === 'ruta') === esDeRuta).map((uno) => campo(uno, alCambiar)),
  ) as [HTMLElement[], HTMLElement[]]
  const ruta = document.querySelector<HTMLFieldSetElement>('#de-ruta')!
  ruta.replaceChildren(ruta.firstElementChild!, ...deRuta)
  ruta.hidden = deRuta.length === 0
  const consulta = document.querySelector<HTMLDetailsElement>('#de-consulta')!
  consulta.querySelector('div')!.replaceChildren(...deConsulta)
  consulta.hidden = deConsulta.length === 0
  consulta.open = parametros.some(({ en, obligatorio }) => en === 'consulta' && obligatorio)
}

/** Returns the trimmed values of the fields, by field name. */
export const leerCampos = (formulario: HTMLFormElement): Map<string, string> =>
  new Map([...new FormData(formulario)].map(([nombre, valor]) => [nombre, String(valor).trim()]))
