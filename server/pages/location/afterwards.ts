import type { AnotherLinkResult, ConfirmedPlace, UbicacionRequestData } from '../../domain/ubicacion/request.ts'
import type { Estado } from '../../generated/contract/types/index.ts'
import { type Html, html } from '../../platform/html.ts'
import { messagePage, type PageContent } from '../frame.ts'
import { followRow, recipientAdvice } from '../tracking/actions.ts'
import type { ShownShipment } from '../tracking/shipment.ts'
import { renderStatus, renderStory, renderThanks } from '../tracking/story.ts'
import { facts, field, notice } from '../ui/components.ts'
import type { FormValues } from './form.ts'
import { destinoArea, firstName, hiddenFields, parcelSummary } from './parts.ts'
import { formatMetres, IMPRECISE_ABOVE_M } from './precision.ts'
import { renderSmallMap, type Tiles } from './tiles.ts'

/**
 * Returns the page that asks for confirmation of a location far from the declared municipality.
 * @param distanceKm distance from that municipality, in kilometres
 */
export function farUbicacionPage(datos: UbicacionRequestData, values: FormValues, distanceKm: number): PageContent {
  const titulo = '¿Seguro que es ahí?'
  const km = Math.round(distanceKm).toLocaleString('es-GT')
  const fields = ['lat', 'lng', 'precision_m', 'metodo', 'enlace', 'referencia', 'aproximado', 'cambiar'] as const
  return {
    titulo,
    body: html`${parcelSummary(datos)}
<h1 tabindex="-1" autofocus>${titulo}</h1>
<p>El lugar que eligió está a unos <strong>${km}\u00a0km</strong> de <strong>${destinoArea(datos)}</strong>, que es la dirección del paquete.</p>
<form method="post" data-formulario>
${hiddenFields(values, fields)}
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
    body: html`${parcelSummary(datos)}
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
  body: html`${parcelSummary(datos)}
<div class="gracias" data-recargar>
<h1 tabindex="-1">Estamos leyendo su enlace</h1>
<p role="status">Guardamos el enlace. Falta saber a qué punto del mapa lleva: tarda unos segundos.</p>
<p><a class="boton" href="">Ver si ya está</a></p>
<p><a class="boton" href="?cambiar">Decir el lugar de otra forma</a></p></div>`,
})

/** Options of the page of a confirmed location. */
interface ConfirmedPageOptions {
  /** Source of the map tiles; null if the service offers no map. */
  tiles: Tiles | null
  /** Relative path from the page to the service root, such as `../`. */
  root: string
  /** Path of the style sheet for the state and history of the parcel. */
  style: string
  /** True if the recipient wanted to change the location, but the courier is already on the way. */
  isLate: boolean
  /** Description that was sent and refused; undefined to show the stored description. */
  words: string | undefined
  /** Fault of the description that was sent. */
  fault: string | undefined
}

/** States in which a confirmed location is no good news: the page then shows the state instead of its thanks. */
const WITH_PROBLEM: readonly Estado[] = ['intento_fallido', 'extraviado']

/**
 * Returns the page of a confirmed location: thanks, or the state of a parcel that has left; then the location, what the
 * link can still change, and the history.
 */
export function confirmedPage(
  datos: UbicacionRequestData,
  shipment: ShownShipment,
  options: ConfirmedPageOptions,
): PageContent {
  const { root, style, isLate } = options
  const isThanks = datos.correctable && !WITH_PROBLEM.includes(shipment.estado)
  const actions = datos.correctable ? renderChanges(datos, options) : renderTooLate(datos, shipment, options)
  return {
    titulo: isLate ? TOO_LATE : isThanks ? 'Gracias' : 'Su paquete',
    body: html`<link rel="stylesheet" href="${style}">
${renderStory(shipment, {
  heading: isThanks ? renderPlaceThanks(datos, shipment) : renderStatus(shipment),
  actions: html`${actions}
${followRow(shipment, root)}`,
})}`,
  }
}

const TOO_LATE = 'Ya no se puede cambiar aquí'

function renderPlaceThanks({ destinatario, confirmed }: UbicacionRequestData, shipment: ShownShipment): Html {
  const name = firstName(destinatario)
  const said = confirmed?.lectura === 'demorado' ? LINK_NOT_READ : 'Ya sabemos dónde entregarle su paquete.'
  return renderThanks(shipment, name ? `¡Gracias, ${name}!` : '¡Gracias!', said)
}

const LINK_NOT_READ =
  'Guardamos su enlace, pero el mapa todavía no contesta. Lo seguimos intentando; si puede, díganos el lugar de otra forma.'

/** Draws the confirmed location and what the link can change about it. */
function renderChanges(datos: UbicacionRequestData, { words, fault, tiles }: ConfirmedPageOptions): Html {
  const { referencia = null, lat = null, enlace = null } = datos.confirmed ?? {}
  const directions = (lat !== null || enlace !== null) && directionsForm(words ?? referencia ?? '', fault)
  // The filled button is the next step: describing the door, until there is a description.
  const lacksDirections = directions && (referencia === null || fault !== undefined)
  return html`<section aria-labelledby="lugar-dado">${renderPlace(datos, tiles)}
${lacksDirections && directions}
${
  !lacksDirections &&
  directions &&
  html`<details><summary>Cambiar las señas</summary>
${directions}
</details>`
}
<p>Puede cambiarlo hasta que el repartidor salga a entregarlo.</p>
<p><a class="boton" href="?cambiar">Cambiar el lugar</a></p></section>`
}

/** Draws what remains to do once the courier has left, or the parcel is at its end. */
function renderTooLate(
  datos: UbicacionRequestData,
  shipment: ShownShipment,
  { isLate, tiles }: ConfirmedPageOptions,
): Html {
  const isUnderWay = shipment.estado === 'en_ruta'
  const reason = isUnderWay
    ? 'El paquete ya salió hacia el lugar que nos dio antes.'
    : 'El paquete ya no espera el lugar.'
  return html`${isLate && notice(html`<p><strong>${TOO_LATE}.</strong> ${reason}</p>`)}
<section aria-labelledby="puede"><h2 id="puede">Qué puede hacer ahora</h2>
${recipientAdvice(shipment)}</section>
${isUnderWay && html`<section aria-labelledby="lugar-dado">${renderPlace(datos, tiles)}</section>`}`
}

function renderPlace({ confirmed }: UbicacionRequestData, tiles: Tiles | null): Html {
  const { lat = null, lng = null } = confirmed ?? {}
  return html`<h2 id="lugar-dado">Dónde se lo entregamos</h2>
${tiles && lat !== null && lng !== null && renderSmallMap(tiles, { lat, lng })}
${facts([
  ['Lugar', confirmed && describePlace(confirmed)],
  ['Cómo reconocerlo', confirmed?.referencia],
])}`
}

/** Draws the form that asks how to recognize the door of a confirmed location. */
const directionsForm = (words: string, fault: string | undefined) =>
  html`<form method="post" class="senas" data-formulario data-confirmado>
${field({
  id: 'referencia',
  label: '¿Cómo se reconoce la puerta?',
  hint: 'Color, portón, qué hay enfrente, si hay que tocar o llamar.',
  fault,
  control: (attributes) =>
    html`<textarea ${attributes} name="referencia" rows="2" maxlength="200" autocomplete="off">\n${words}</textarea>`,
})}
<button type="submit" class="principal" name="accion" value="senas">Guardar las señas</button>
<p id="envio" class="estado" role="status"></p>
</form>`

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
  body: html`<h1 tabindex="-1">Este enlace ya venció</h1>
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
