// Script of the console. The key stays in its field, unless the merchant ticks the box to remember the key in this
// tab. The page's Content-Security-Policy allows requests to this service only.
import { withRelativeDays } from '../../../platform/time/relativeDays.ts'
import { copyText } from '../../docs/browser/clipboard.ts'
import { startSearch } from '../../docs/browser/frame.ts'
import { fillBody, readFields, rememberIds, renderFields } from './fields.ts'
import { rememberLlave } from './llave.ts'
import { buildPath, type ConsoleOperacion, faultOfLlave, headersOf, toCurl } from './operation.ts'
import { showFailure, showResponse, showSending } from './response.ts'

const ver = <ElementType extends HTMLElement>(selector: string) => document.querySelector<ElementType>(selector)!
const console = ver('#consola')
const form = ver<HTMLFormElement>('form')
const llave = ver<HTMLInputElement>('#llave')
const operation = ver<HTMLSelectElement>('#operacion')
const exampleSelect = ver<HTMLSelectElement>('#ejemplo')
const body = ver<HTMLTextAreaElement>('#cuerpo')
/** Base URL of the service, without a final slash. The page is two path segments below it. */
const serviceUrl = new URL('../', location.href).href.replace(/\/$/, '')
let operations: readonly ConsoleOperacion[] = []

const chosenOperacion = () => operations.find(({ id }) => id === operation.value)!
const bodyOf = ({ examples }: ConsoleOperacion) => (examples.length > 0 ? body.value : undefined)
const direccion = () => serviceUrl + buildPath(chosenOperacion(), readFields(form))

function showAddress() {
  ver('#direccion').textContent = `${chosenOperacion().method} ${direccion()}`
}

function showExample({ examples }: ConsoleOperacion, index: number) {
  body.value = fillBody(examples[index]?.body ?? '')
}

function showOperacion() {
  const entry = chosenOperacion()
  renderFields(entry, showAddress)
  exampleSelect.replaceChildren(...entry.examples.map(({ nombre }, i) => new Option(nombre, String(i))))
  ver('#con-ejemplos').hidden = entry.examples.length < 2
  ver('#con-cuerpo').hidden = entry.examples.length === 0
  showExample(entry, 0)
  ver<HTMLAnchorElement>('#ayuda').href = `../docs#${entry.lugar}`
  showFault(body, '#de-cuerpo', undefined)
  showAddress()
}

/**
 * Shows the fault of a field, or clears it if `fault` is undefined.
 * @param where selector of the element that shows the fault
 * @returns true if the field has no fault
 */
function showFault(field: HTMLElement, where: string, fault: string | undefined): boolean {
  ver(where).textContent = fault ?? ''
  if (fault === undefined) field.removeAttribute('aria-invalid')
  else field.setAttribute('aria-invalid', 'true')
  return fault === undefined
}

const checkLlave = () => showFault(llave, '#reparo', faultOfLlave(llave.value.trim()))

async function sendRequest() {
  if (!checkLlave()) return llave.focus()
  const entry = chosenOperacion()
  const text = bodyOf(entry)
  showSending()
  const startedAt = performance.now()
  try {
    const response = await fetch(direccion(), {
      method: entry.method,
      headers: {
        ...(llave.value.trim() && entry.needsLlave ? { Authorization: `Bearer ${llave.value.trim()}` } : {}),
        ...headersOf(entry, readFields(form)),
        ...(text === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(text === undefined ? {} : { body: text }),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    })
    rememberIds(await showResponse(response, performance.now() - startedAt))
  } catch {
    showFailure()
  }
}

function chooseFromHash() {
  const requested = operations.find(({ id }) => id === location.hash.slice(1)) ?? operations[0]!
  operation.value = requested.id
  showOperacion()
}

async function start() {
  const text = await (await fetch(console.dataset.operaciones!)).text()
  operations = JSON.parse(withRelativeDays(text, console.dataset.hoy!)) as ConsoleOperacion[]
  for (const group of new Set(operations.map((entry) => entry.group))) {
    const groupOperaciones = operations.filter((entry) => entry.group === group)
    const options = Object.assign(document.createElement('optgroup'), { label: group })
    options.append(...groupOperaciones.map(({ id, resumen, method }) => new Option(`${resumen} (${method})`, id)))
    operation.append(options)
  }
  rememberLlave(llave, ver('#recordar'))
  chooseFromHash()
  console.hidden = false
}

operation.addEventListener('change', () => history.replaceState(null, '', `#${operation.value}`))
operation.addEventListener('change', showOperacion)
addEventListener('hashchange', chooseFromHash)
exampleSelect.addEventListener('change', () => showExample(chosenOperacion(), Number(exampleSelect.value)))
// The fault goes while the key changes, and not when the field loses the focus: the page would move below the pointer,
// and the click on the button would miss it.
llave.addEventListener('input', () => showFault(llave, '#reparo', undefined))
form.addEventListener('submit', (evento) => {
  evento.preventDefault()
  void sendRequest()
})
form.addEventListener('keydown', (evento) => {
  if (evento.key === 'Enter' && (evento.ctrlKey || evento.metaKey)) form.requestSubmit()
})
const copyAndReport = async (text: string) => {
  const bien = await copyText(text)
  ver('#copiado').textContent = bien ? 'Copiado.' : 'El navegador no dejó copiar.'
}
ver('#curl').addEventListener(
  'click',
  () =>
    void copyAndReport(
      toCurl(chosenOperacion(), direccion(), headersOf(chosenOperacion(), readFields(form)), bodyOf(chosenOperacion())),
    ),
)
ver('#copiar').addEventListener('click', () => void copyAndReport(ver('#recibido').textContent ?? ''))
startSearch()
void start()
