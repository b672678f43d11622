import { identificadoresDe, type OperacionDeConsola, type Parametro } from './operacion.ts'

/** What answers of this page named last: `guia`, `webhook`… */
const recordados = new Map<string, string>()

export function recordarIdentificadores(respuesta: unknown) {
  for (const [nombre, valor] of identificadoresDe(respuesta)) recordados.set(nombre, valor)
}

function campo({ nombre, en, ejemplo, obligatorio, descripcion }: Parametro, alCambiar: () => void): HTMLElement {
  const id = `parametro-${nombre}`
  const entrada = Object.assign(document.createElement('input'), {
    id,
    name: nombre,
    // A filter that nobody asked for would hide what is there.
    value: en === 'ruta' || obligatorio ? (recordados.get(nombre) ?? ejemplo) : '',
    placeholder: ejemplo,
    autocomplete: 'off',
    spellcheck: false,
    required: obligatorio,
    // Of spaces alone nothing would be left.
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

/** Writes an operation's fields, with what was made last in them, or the contract's example. */
export function escribirCampos({ parametros }: OperacionDeConsola, alCambiar: () => void) {
  const [deRuta, deConsulta] = (['ruta', 'consulta'] as const).map((en) =>
    parametros.filter((uno) => uno.en === en).map((uno) => campo(uno, alCambiar)),
  ) as [HTMLElement[], HTMLElement[]]
  const ruta = document.querySelector<HTMLFieldSetElement>('#de-ruta')!
  ruta.replaceChildren(ruta.firstElementChild!, ...deRuta)
  ruta.hidden = deRuta.length === 0
  const consulta = document.querySelector<HTMLDetailsElement>('#de-consulta')!
  consulta.querySelector('div')!.replaceChildren(...deConsulta)
  consulta.hidden = deConsulta.length === 0
  consulta.open = parametros.some(({ en, obligatorio }) => en === 'consulta' && obligatorio)
}

/** The values of the fields, by their names. */
export const leerCampos = (formulario: HTMLFormElement): Map<string, string> =>
  new Map([...new FormData(formulario)].map(([nombre, valor]) => [nombre, String(valor).trim()]))
