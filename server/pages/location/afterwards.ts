import type { AnotherLinkResult, ConfirmedPlace, UbicacionRequestData } from '../../domain/ubicacion/request.ts'
import { messagePage, type PageContent } from '../frame.ts'
import { type Html, html } from '../html.ts'
import { facts, field } from '../ui/components.ts'
import type { FormValues } from './form.ts'
import { destinoArea, firstName, hiddenFields, parcelSummary, withFullStop } from './parts.ts'
import { formatMetres, IMPRECISE_ABOVE_M } from './precision.ts'

/**
 * Returns the page that asks for confirmation of a location far from the declared municipality.
 * @param distanceKm distance from that municipality, in kilometres
 */
export function farUbicacionPage(datos: UbicacionRequestData, values: FormValues, distanceKm: number): PageContent {
  const titulo = '¿Seguro que es ahí?'
  const km = Math.round(distanceKm).toLocaleString('es-GT')
  const campos = ['lat', 'lng', 'precision_m', 'metodo', 'enlace', 'referencia', 'aproximado', 'cambiar'] as const
  return {
    titulo,
    cuerpo: html`${parcelSummary(datos)}
<h1 tabindex="-1" autofocus>${titulo}</h1>
<p>El lugar que eligió está a unos <strong>${km}\u00a0km</strong> de <strong>${destinoArea(datos)}</strong>, que es la dirección del paquete.</p>
<form method="post" data-formulario>
${hiddenFields(values, campos)}
<button type="submit" class="principal" name="accion" value="corregir">No, quiero corregirlo</button>
<button type="submit" name="seguro" value="1">Sí, entréguenlo ahí</button>
<p id="envio" class="estado" role="status"></p>
</form>`,
  }
}

/**
 * Returns the page that asks whether the description replaces the confirmed point or link. If not, the description is
 * added to the location.
 */
export function replaceByWordsPage(datos: UbicacionRequestData, values: FormValues): PageContent {
  const titulo = '¿Quitamos el lugar del mapa?'
  return {
    titulo,
    cuerpo: html`${parcelSummary(datos)}
<h1 tabindex="-1" autofocus>${titulo}</h1>
<p>Usted ya nos señaló un lugar en el mapa. Con él, el repartidor llega directo. Si lo quita, solo tendrá sus palabras:</p>
<blockquote>${values.referencia}</blockquote>
<form method="post" data-formulario>
${hiddenFields({ ...values, metodo: 'descripcion' }, ['metodo', 'referencia', 'cambiar'])}
<button type="submit" class="principal" name="accion" value="senas">Dejar el lugar y agregar mis palabras</button>
<button type="submit" name="sin_punto" value="1">Quitar el lugar: ya no es ahí</button>
<p id="envio" class="estado" role="status"></p>
</form>`,
  }
}

/**
 * Returns the page shown while the service follows a short link. The page's script loads it again until the location is
 * known.
 */
export const readingLinkPage = (datos: UbicacionRequestData): PageContent => ({
  titulo: 'Leyendo su enlace',
  cuerpo: html`${parcelSummary(datos)}
<div class="gracias" data-recargar>
<h1 tabindex="-1">Estamos leyendo su enlace</h1>
<p role="status">Guardamos el enlace. Falta saber a qué punto del mapa lleva: tarda unos segundos.</p>
<p><a class="boton" href="">Ver si ya está</a></p>
<p><a class="boton" href="?cambiar">Decir el lugar de otra forma</a></p></div>`,
})

/** Options of the page of a confirmed location. */
interface ThanksPageOptions {
  /** Relative path from the page to the service root, such as `../`. */
  root: string
  /** True if the recipient wanted to change the location, but the courier is already on the way. */
  isLate: boolean
  /** Description that was sent and refused; undefined to show the stored description. */
  words: string | undefined
  /** Fault of the description that was sent. */
  falla: string | undefined
}

/**
 * Returns the page that shows the confirmed location, and asks how the door looks. It has a link to the tracking page
 * and, while allowed, a link to change the location.
 */
export function thanksPage(
  datos: UbicacionRequestData,
  { root, isLate, words, falla }: ThanksPageOptions,
): PageContent {
  const nombre = firstName(datos.destinatario)
  const { referencia = null, lat = null, enlace = null } = datos.confirmed ?? {}
  const isPointed = lat !== null || enlace !== null
  const directionsQuestion = datos.correctable && isPointed && directionsForm(words ?? referencia ?? '', falla)
  // The filled button is the next step: describing the door, until there is a description.
  const lacksDirections = directionsQuestion && (referencia === null || falla !== undefined)
  const titulo = isLate ? 'Ya no se puede cambiar aquí' : nombre ? `¡Gracias, ${nombre}!` : '¡Gracias!'
  return {
    titulo: isLate ? titulo : 'Gracias',
    cuerpo: html`${parcelSummary(datos)}
<div class="gracias">${!isLate && CHECK_MARK}
<h1 tabindex="-1">${titulo}</h1>
<p>${precisionSentence(datos.confirmed, isLate)}</p>
${facts([
  ['Lugar', datos.confirmed && describePlace(datos.confirmed)],
  ['Cómo reconocerlo', referencia],
])}
${lacksDirections && directionsQuestion}
<p><a class="boton${!lacksDirections && ' principal'}" href="${root}r/${datos.guia}">Seguir mi paquete</a></p>
${
  !lacksDirections &&
  directionsQuestion &&
  html`<details><summary>Cambiar las señas</summary>
${directionsQuestion}
</details>`
}
${datos.correctable && html`<p><a class="boton" href="?cambiar">Cambiar el lugar</a></p>`}
<p>${datos.correctable ? 'Puede cambiarlo hasta que el repartidor salga a entregarlo. Ya' : `Si algo no está bien, avísele a ${withFullStop(datos.comercio)} Ya`} puede cerrar esta página.</p></div>`,
  }
}

/** Returns the sentence that says how precisely the location is known. */
function precisionSentence(confirmed: ConfirmedPlace | null, isLate: boolean): string {
  if (isLate) return 'El paquete ya salió hacia el lugar que nos dio antes.'
  if (confirmed?.lectura === 'demorado')
    return 'Guardamos su enlace, pero el mapa todavía no contesta. Lo seguimos intentando; si puede, díganos el lugar de otra forma.'
  return 'Ya sabemos dónde entregarle su paquete.'
}

/** Draws the form that asks how to recognize the door of a confirmed location. */
const directionsForm = (words: string, falla: string | undefined) =>
  html`<form method="post" class="senas" data-formulario data-confirmado>
${field({
  id: 'referencia',
  label: '¿Cómo se reconoce la puerta?',
  hint: 'Color, portón, qué hay enfrente, si hay que tocar o llamar.',
  fault: falla,
  control: (attributes) =>
    html`<textarea ${attributes} name="referencia" rows="2" maxlength="200" autocomplete="off">\n${words}</textarea>`,
})}
<button type="submit" class="principal" name="accion" value="senas">Guardar las señas</button>
<p id="envio" class="estado" role="status"></p>
</form>`

const CHECK_MARK = html`<svg viewBox="0 0 24 24" width="56" height="56" aria-hidden="true" focusable="false"><circle cx="12" cy="12" r="11" fill="currentColor"/><path class="hueco" fill="none" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round" d="m7 12.5 3.5 3.5L17 9"/></svg>`

/** Describes how the recipient gave the confirmed location. */
function describePlace({ lat, lng, precision_m, enlace }: ConfirmedPlace): Html {
  const isNear = precision_m !== null && precision_m > IMPRECISE_ABOVE_M
  const pointWords = isNear
    ? `Cerca del punto que dio su teléfono, a ${formatMetres(precision_m)} o menos.`
    : 'El punto que nos señaló.'
  if (lat !== null && lng !== null) {
    const mapUrl = `https://www.google.com/maps/search/?api=1&query=${lat.toFixed(6)},${lng.toFixed(6)}`
    return html`${pointWords} <a href="${mapUrl}" rel="noreferrer noopener">Verlo en el mapa</a>`
  }
  return enlace === null ? html`El que nos describió.` : html`El enlace de mapa que nos dio.`
}

// The pages below reveal nothing about any parcel: the reader may have guessed the link, or found an old link.

export const UNKNOWN_UBICACION_REQUEST = messagePage(
  'No encontramos este enlace',
  html`Puede que se haya cortado al copiarlo. Ábralo otra vez desde el mensaje que recibió.`,
  html`Si sigue sin abrir, escríbale a la tienda donde compró.`,
)

export const EXPIRED_UBICACION_REQUEST: PageContent = {
  titulo: 'Este enlace ya venció',
  cuerpo: html`<h1 tabindex="-1">Este enlace ya venció</h1>
<p>Ya no se puede usar. Le podemos mandar otro, por mensaje y al mismo teléfono.</p>
<form method="post">
<button type="submit" class="principal" name="accion" value="otro">Mandarme otro enlace</button>
</form>
<p>Si ya no tiene ese teléfono, escríbale a la tienda donde compró.</p>`,
}

/** Returns the page that says to which telephone the new link was sent. It shows only the last digits. */
export function newLinkPage({ repetida, lastDigits }: Extract<AnotherLinkResult, { ok: true }>): PageContent {
  const telefono = html`al teléfono que termina en <strong>${lastDigits}</strong>`
  return messagePage(
    repetida ? 'Ya le mandamos otro enlace' : 'Le mandamos otro enlace',
    repetida
      ? html`Búsquelo en sus mensajes: se lo mandamos ${telefono}, y es más nuevo que este.`
      : html`Va por mensaje, ${telefono}. Puede tardar unos minutos.`,
    html`Si no le llega, escríbale a la tienda donde compró.`,
  )
}

export const NEW_LINKS_EXHAUSTED = messagePage(
  'No podemos mandarle otro enlace',
  html`Ya se pidieron muchos. Busque en sus mensajes el más nuevo, o espere a mañana.`,
  html`Si le urge, escríbale a la tienda donde compró: ella también puede decirnos el lugar.`,
)

export const CHANGES_EXHAUSTED = messagePage(
  'Ya cambió el lugar muchas veces',
  html`Se queda el último que nos dio. Si no está bien, escríbale a la tienda donde compró.`,
)

export const CLOSED_UBICACION_REQUEST = messagePage(
  'Ya no hace falta confirmar',
  html`Este paquete ya no necesita su ubicación. No tiene que hacer nada más.`,
  html`Si tiene alguna duda, escríbale a la tienda donde compró.`,
)

export const UNREADABLE_UBICACION_FORM = messagePage(
  'No pudimos leer eso',
  html`Abra otra vez el enlace desde el mensaje que recibió y vuelva a intentarlo.`,
)

export const UBICACION_FAILED = html`No es culpa suya. Espere un minuto y vuelva a abrir el enlace desde el mensaje que recibió.`
