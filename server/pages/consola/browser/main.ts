// Script of the console. The key stays in its field, unless the merchant ticks the box to remember the key in this
// tab. The page's Content-Security-Policy allows requests to this service only.
import { withRelativeDays } from '../../../platform/time/relativeDays.ts'
import { copiarTexto } from '../../docs/browser/portapapeles.ts'
import { escribirCampos, leerCampos, recordarIdentificadores } from './campos.ts'
import { recordarLlave } from './llave.ts'
import { armarRuta, cabecerasDe, comoCurl, type OperacionDeConsola, reparoDeLlave } from './operacion.ts'
import { mostrarEspera, mostrarFallo, mostrarRespuesta } from './respuesta.ts'

const ver = <Elemento extends HTMLElement>(selector: string) => document.querySelector<Elemento>(selector)!
const consola = ver('#consola')
const formulario = ver<HTMLFormElement>('form')
const llave = ver<HTMLInputElement>('#llave')
const operacion = ver<HTMLSelectElement>('#operacion')
const ejemplo = ver<HTMLSelectElement>('#ejemplo')
const cuerpo = ver<HTMLTextAreaElement>('#cuerpo')
/** Base URL of the service, without a final slash. The page is two path segments below it. */
const servicio = new URL('../', location.href).href.replace(/\/$/, '')
let operaciones: readonly OperacionDeConsola[] = []

const elegida = () => operaciones.find(({ id }) => id === operacion.value)!
const cuerpoDe = ({ ejemplos }: OperacionDeConsola) => (ejemplos.length > 0 ? cuerpo.value : undefined)
const direccion = () => servicio + armarRuta(elegida(), leerCampos(formulario))

function mostrarDireccion() {
  ver('#direccion').textContent = `${elegida().metodo} ${direccion()}`
}

function mostrarOperacion() {
  const una = elegida()
  escribirCampos(una, mostrarDireccion)
  ejemplo.replaceChildren(...una.ejemplos.map(({ nombre }, i) => new Option(nombre, String(i))))
  ver('#con-ejemplos').hidden = una.ejemplos.length < 2
  ver('#con-cuerpo').hidden = una.ejemplos.length === 0
  cuerpo.value = una.ejemplos[0]?.cuerpo ?? ''
  ver<HTMLAnchorElement>('#ayuda').href = `../docs#${una.lugar}`
  reparar(cuerpo, '#de-cuerpo', undefined)
  mostrarDireccion()
}

/**
 * Shows the fault of a field, or clears it if `reparo` is undefined.
 * @param donde selector of the element that shows the fault
 * @returns true if the field has no fault
 */
function reparar(campo: HTMLElement, donde: string, reparo: string | undefined): boolean {
  ver(donde).textContent = reparo ?? ''
  if (reparo === undefined) campo.removeAttribute('aria-invalid')
  else campo.setAttribute('aria-invalid', 'true')
  return reparo === undefined
}

const revisarLlave = () => reparar(llave, '#reparo', reparoDeLlave(llave.value.trim()))

async function enviar() {
  if (!revisarLlave()) return llave.focus()
  const una = elegida()
  const texto = cuerpoDe(una)
  mostrarEspera()
  const inicio = performance.now()
  try {
    const respuesta = await fetch(direccion(), {
      method: una.metodo,
      headers: {
        ...(llave.value.trim() && una.conLlave ? { Authorization: `Bearer ${llave.value.trim()}` } : {}),
        ...cabecerasDe(una, leerCampos(formulario)),
        ...(texto === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(texto === undefined ? {} : { body: texto }),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    })
    recordarIdentificadores(await mostrarRespuesta(respuesta, performance.now() - inicio))
  } catch {
    mostrarFallo()
  }
}

function elegirDeLaDireccion() {
  const pedida = operaciones.find(({ id }) => id === location.hash.slice(1)) ?? operaciones[0]!
  operacion.value = pedida.id
  mostrarOperacion()
}

async function iniciar() {
  const texto = await (await fetch(consola.dataset.operaciones!)).text()
  operaciones = JSON.parse(withRelativeDays(texto, consola.dataset.hoy!)) as OperacionDeConsola[]
  for (const grupo of new Set(operaciones.map((una) => una.grupo))) {
    const suyas = operaciones.filter((una) => una.grupo === grupo)
    const opciones = Object.assign(document.createElement('optgroup'), { label: grupo })
    opciones.append(...suyas.map(({ id, resumen, metodo }) => new Option(`${resumen} (${metodo})`, id)))
    operacion.append(opciones)
  }
  recordarLlave(llave, ver('#recordar'))
  elegirDeLaDireccion()
  consola.hidden = false
}

operacion.addEventListener('change', () => history.replaceState(null, '', `#${operacion.value}`))
operacion.addEventListener('change', mostrarOperacion)
addEventListener('hashchange', elegirDeLaDireccion)
ejemplo.addEventListener('change', () => {
  cuerpo.value = elegida().ejemplos[Number(ejemplo.value)]!.cuerpo
})
llave.addEventListener('change', revisarLlave)
formulario.addEventListener('submit', (evento) => {
  evento.preventDefault()
  void enviar()
})
formulario.addEventListener('keydown', (evento) => {
  if (evento.key === 'Enter' && (evento.ctrlKey || evento.metaKey)) formulario.requestSubmit()
})
const copiar = async (texto: string) => {
  const bien = await copiarTexto(texto)
  ver('#copiado').textContent = bien ? 'Copiado.' : 'El navegador no dejó copiar.'
}
ver('#curl').addEventListener(
  'click',
  () =>
    void copiar(comoCurl(elegida(), direccion(), cabecerasDe(elegida(), leerCampos(formulario)), cuerpoDe(elegida()))),
)
ver('#copiar').addEventListener('click', () => void copiar(ver('#recibido').textContent ?? ''))
void iniciar()
