import { isFinalState } from '../../domain/estados/estados.ts'
import { admitsUbicacion } from '../../domain/ubicacion/ubicacion.ts'
import * as icons from '../../generated/contract/icons.ts'
import type { EstadoDeUbicacion } from '../../generated/contract/types/index.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { type Html, html } from '../../platform/html.ts'
import { codeForm } from '../codeForm.ts'
import type { PageContent } from '../frame.ts'
import type { Front } from '../front.ts'
import { advice } from '../ui/components.ts'
import { whatToDo } from './actions.ts'
import { sayTime } from './promise.ts'
import type { ShownShipment } from './shipment.ts'
import { renderStatus, renderStory } from './story.ts'

const MISSING_PLACE: Readonly<Record<Exclude<EstadoDeUbicacion, 'confirmada'>, string>> = {
  solicitada:
    'Quien recibe tiene un mensaje en su teléfono para decirnos dónde entregar. Mientras no conteste, el paquete no sale a ruta.',
  vencida:
    'Quien recibe tiene un mensaje que no contestó a tiempo, y su enlace ya no sirve. La tienda donde compró puede mandarle otro.',
  fallida:
    'A quien recibe no le llegó el mensaje para decirnos dónde entregar. Escríbale a la tienda donde compró para darle el lugar.',
}

interface ShipmentPageOptions {
  /** Relative path from the page to the service root, such as `../`. */
  root: string
  /** Script that loads the page again; omitted in final states. */
  script: Html
  front: Front
}

/** Returns the content of a parcel's page. */
export function shipmentPage(shipment: ShownShipment, { root, script, front }: ShipmentPageOptions): PageContent {
  const { guia, modo, estado, zona, now } = shipment
  const isFinal = isFinalState(estado)
  const prueba = modo === 'test'
  const actions = html`${missingPlaceNotice(shipment)}
${whatToDo(shipment, front, root)}`
  const body = html`${prueba && html`<p class="aviso"><strong>Guía de prueba.</strong> No hay ningún paquete: alguien está probando el servicio.</p>\n`}${renderStory(shipment, { heading: renderStatus(shipment), actions })}
${!isFinal && html`<p class="suave visto" id="visto">Visto ${sayTime(now, { zona, now })}. <a href="${guia}">Actualizar</a></p>\n<p class="oculto" id="novedad" role="status"></p>`}
<p class="otro"><a href="${root || './'}">Seguir otro envío</a></p>`
  return { titulo: `Envío ${inGroups(guia)}`, body, withTelefono: true, script: isFinal ? undefined : script }
}

/**
 * Returns the notice that the delivery location is missing; false if the location is confirmed or no longer needed. In
 * the state `en_ruta` the notice is left out: the courier already knows that the location is missing.
 */
function missingPlaceNotice({ estado, ubicacion, modo }: ShownShipment): Html | false {
  if (ubicacion === 'confirmada' || estado === 'en_ruta') return false
  if (!admitsUbicacion({ estado, ubicacion_estado: ubicacion })) return false
  return html`<section class="aviso" aria-labelledby="lugar"><h2 id="lugar">Falta saber dónde entregar</h2>
<p>${MISSING_PLACE[ubicacion]}</p>${
    modo === 'test' &&
    html`
<p>Como es una guía de prueba, ese mensaje no sale a ningún teléfono.</p>`
  }</section>`
}

/**
 * Returns the page for texts that cannot be codes and for unknown codes. It does not tell them apart, so guessing
 * reveals nothing.
 * @param typedCode text typed into the form that cannot be a code
 */
export const unknownShipmentPage = (root: string, typedCode?: string): PageContent => ({
  titulo: 'No encontramos ese envío',
  body: html`<h1>No encontramos ese envío</h1>
${codeForm({ root, typedCode })}
<section aria-labelledby="revise"><h2 id="revise">Lo que suele pasar</h2>
${advice([
  {
    icon: icons.Pencil,
    text: 'El código tiene un error',
    detail:
      'Cópielo otra vez del mensaje de la tienda o de la etiqueta: puede que falte una letra o que una esté cambiada.',
  },
  {
    icon: icons.Store,
    text: 'La tienda todavía no lo registra',
    detail: 'Si acaba de comprar, vuelva a intentarlo más tarde.',
  },
  {
    icon: icons.Truck,
    text: 'Lo lleva otro servicio de mensajería',
    detail: 'Pregúntele a la tienda donde compró con quién lo envió.',
  },
])}</section>`,
})

export const RASTREO_FAILED = html`No es culpa suya, y el envío sigue su camino. Vuelva a cargar la página en un minuto.`
