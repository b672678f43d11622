import { GUIA_STATE_WORDS } from '../../domain/estados/estados.ts'
import { Package } from '../../generated/contract/icons.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { type Html, html } from '../../platform/html.ts'
import { createClock } from '../../platform/time/clock.ts'
import { codeForm } from '../codeForm.ts'
import type { PageContent } from '../frame.ts'
import { choiceRow } from '../ui/components.ts'
import type { Entrega } from './entrega.ts'

/**
 * Returns the content of the page that verifies a guide's proof of delivery.
 * @param root relative path from the page to the service root, such as `../`
 * @param script script that checks a PDF; left out if the guide has no PDF to check
 */
export function verificationPage(entrega: Entrega, root: string, script: Html): PageContent {
  const { guia, modo, prueba } = entrega
  const isCheckable = prueba === 'lista' || entrega.undoneEntregas.length > 0
  const body = html`${modo === 'test' && html`<p class="aviso"><strong>Guía de prueba.</strong> No hay ningún paquete: alguien está probando el servicio.</p>\n`}<p class="suave">Guía <b class="codigo">${inGroups(guia)}</b></p>
<h1>Verificar la prueba de entrega</h1>
${renderEntrega(entrega)}
${undoneNotice(entrega)}
${prueba !== 'lista' && !(prueba === 'sin_prueba' && isCheckable) && MISSING_PRUEBA[prueba]}
${isCheckable && verifierSection(entrega, root)}
${choiceRow({ icon: Package, text: 'Ver el envío', detail: 'Cómo va, su historial y qué se puede hacer', href: `${root}r/${guia}` })}`
  return { titulo: `Verificar la guía ${guia}`, body, script: isCheckable ? script : undefined }
}

function renderEntrega({ estado, entregado_en, zona }: Entrega): Html {
  if (!entregado_en) return html`<p>Este envío no se ha entregado. Su estado: ${GUIA_STATE_WORDS[estado]}.</p>`
  const text = entregado_en.toISOString()
  const clock = createClock(zona)
  return html`<p>Este envío se entregó el <b><time datetime="${text}">${clock.formatLong(text)}</time></b>, ${clock.zona(text)}.</p>`
}

/** Returns the notice about proofs of deliveries that were undone; nothing if there are none. */
function undoneNotice({ undoneEntregas, zona }: Entrega): Html | false {
  if (undoneEntregas.length === 0) return false
  const clock = createClock(zona)
  const renderTime = (instant: Date) => {
    const text = instant.toISOString()
    return html`<time datetime="${text}">${clock.formatLong(text)}</time>`
  }
  return html`<section class="aviso" aria-labelledby="deshechas"><h2 id="deshechas">Una entrega fue un error</h2>
${undoneEntregas.map(
  (
    undone,
  ) => html`<p>La entrega del ${renderTime(undone.entregado_en)} se deshizo el ${renderTime(undone.rectificada_en)}. Su prueba ya no vale.</p>
`,
)}</section>`
}

const deletedNotice = (reason: string) =>
  html`<section class="aviso" aria-labelledby="falta"><h2 id="falta">La prueba se borró</h2>
<p>Esta guía tuvo una prueba de entrega, que se borró ${reason}. Aquí ya no se puede comprobar su PDF: esto no dice nada en contra del que alguien conserve.</p></section>`

const MISSING_PRUEBA: Readonly<Record<Exclude<Entrega['prueba'], 'lista'>, Html>> = {
  pendiente: html`<section class="aviso" aria-labelledby="falta"><h2 id="falta">La prueba se está preparando</h2>
<p>El PDF y su firma tardan unos segundos. Vuelva a cargar esta página en un momento.</p></section>`,
  retencion: deletedNotice('cuando venció su plazo'),
  peticion: deletedNotice('a petición de la persona'),
  sin_prueba: html`<section class="aviso" aria-labelledby="falta"><h2 id="falta">No hay nada que verificar</h2>
<p>Esta guía no tiene una prueba de entrega en PDF. Si alguien le dio una, no la emitió este servicio.</p></section>`,
}

/** Returns the part of the page that the script shows. Without JavaScript, a notice says what to do instead. */
const verifierSection = ({ guia, zona }: Entrega, root: string) =>
  html`<section id="verificador" data-guia="${guia}" data-zona="${zona}" data-raiz="${root}" hidden>
<p>Elija el PDF que le dieron y le diremos si es el original. El archivo <strong>no sale de su dispositivo</strong>: aquí se calcula su huella, y solo ella se compara.</p>
<div class="zona"><label for="archivo"><b>Elegir el PDF</b> <span>o arrastrarlo hasta aquí</span></label>
<input id="archivo" type="file" accept="application/pdf,.pdf"></div>
<div id="resultado" role="status"></div>
</section>
<noscript><section class="aviso"><h2>Hace falta JavaScript</h2>
<p>Su navegador calcula la huella del PDF para no tener que enviarlo, y para eso esta página necesita JavaScript. Permítalo y vuelva a cargarla.</p>
<p>O calcúlela usted (<code>sha256sum prueba.pdf</code>) y envíela:</p>
<p><code>curl -H 'Content-Type: application/json' -d '{"sha256":"…"}' …/verificar/${guia}/comprobar</code></p></section></noscript>`

const verificationForm = (root: string, typedCode?: string) =>
  codeForm({ root, pagina: 'verificar', accion: 'Verificar', typedCode })

/** Returns the page that asks for the code of a proof. */
export const verificationByCodePage = (root: string): PageContent => ({
  titulo: 'Verificar una prueba de entrega',
  body: html`<h1>Verificar una prueba de entrega</h1>
<p>Escriba el código que está en el encabezado del PDF. Después podrá comprobar si el archivo es el original.</p>
${verificationForm(root)}`,
})

/**
 * Returns the page for texts that cannot be codes and for unknown codes. It does not tell them apart, so guessing
 * reveals nothing.
 * @param typedCode text typed into the form that cannot be a code
 */
export const unknownPruebaPage = (root: string, typedCode?: string): PageContent => ({
  titulo: 'No encontramos esa guía',
  body: html`<h1>No encontramos esa guía</h1>
<p>Revise el código: son 12 letras y números, y está en el encabezado del PDF. Si llegó aquí con el código QR de un documento, ese documento no lo emitió este servicio.</p>
${verificationForm(root, typedCode)}`,
})

export const VERIFICATION_FAILED = html`No es culpa suya ni de su archivo. Vuelva a cargar la página en un minuto.`
