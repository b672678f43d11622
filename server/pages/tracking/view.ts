import { EVENT_WORDS, GUIA_STATE_WORDS, isFinalState } from '../../domain/estados/estados.ts'
import { admitsUbicacion } from '../../domain/ubicacion/ubicacion.ts'
import * as icons from '../../generated/contract/icons.ts'
import type { Estado, EstadoDeUbicacion } from '../../generated/contract/types/index.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { createClock } from '../../platform/time/clock.ts'
import { capitalized } from '../../platform/words.ts'
import { codeForm } from '../codeForm.ts'
import type { PageContent } from '../frame.ts'
import type { Front } from '../front.ts'
import { type Html, html } from '../html.ts'
import { advice, facts, stateLabel, timeline } from '../ui/components.ts'
import { whatToDo } from './actions.ts'
import { reasonOf, renderProgress } from './estados.ts'
import { decidedDay, sayTime, whenItComes } from './promise.ts'
import type { ShownShipment } from './shipment.ts'

/** Sentences about what may happen next, by state. The type requires a sentence for every state of the contract. */
export const NEXT_SENTENCES: Readonly<Record<Estado, (comercio: string) => string>> = {
  aceptado: (comercio) => `El repartidor pasará por el paquete. Hasta entonces, ${comercio} puede cancelar el envío.`,
  recolectado: () => 'El paquete pasa por una bodega o sale directo a ruta de entrega.',
  en_bodega: () => 'El paquete sale a ruta de entrega o a otra bodega. También puede entregarse en la misma bodega.',
  en_transito: () => 'El paquete llega a otra bodega o sale a ruta de entrega.',
  en_ruta: () => 'El repartidor va a entregarlo.',
  intento_fallido: () => 'El repartidor lo intenta otra vez, o el paquete espera en una bodega.',
  entregado: () => 'Nada más: el paquete ya se entregó.',
  en_devolucion: (comercio) => `El paquete va de regreso: ${comercio} lo recibirá.`,
  devuelto: (comercio) => `Nada más: ${comercio} ya tiene el paquete de vuelta.`,
  extraviado: () => 'Si aparece, va a una bodega o de regreso a quien lo envió.',
  cancelado: (comercio) => `Nada más: ${comercio} canceló el envío antes de que se recolectara.`,
}

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
  const { guia, modo, estado, comercio, municipio, initial, intentos, zona, ahora } = shipment
  const isFinal = isFinalState(estado)
  const prueba = modo === 'test'
  const cuerpo = html`${prueba && html`<p class="aviso"><strong>Guía de prueba.</strong> No hay ningún paquete: alguien está probando el servicio.</p>\n`}<p class="suave">De <b>${comercio}</b> · guía <b class="codigo">${inGroups(guia)}</b></p>
<div id="envio"><div>${renderStatus(shipment)}
${missingPlaceNotice(shipment)}
${whatToDo(shipment, front, root)}</div>
<div>${historial(shipment)}
${facts([
  ['Para', initial !== null && `${initial}.`],
  ['Municipio de destino', municipio],
  ['Intentos de entrega fallidos', intentos > 0 && intentos],
])}</div></div>
${!isFinal && html`<p class="suave visto" id="visto">Visto ${sayTime(ahora, { zona, ahora })}. <a href="${guia}">Actualizar</a></p>\n<p class="oculto" id="novedad" role="status"></p>`}
<p class="otro"><a href="${root || './'}">Seguir otro envío</a></p>`
  return { titulo: `Envío ${inGroups(guia)}`, cuerpo, withTelefono: true, script: isFinal ? undefined : script }
}

/**
 * Draws the state, its reason, the day, and the progress. Also says what may happen next, unless a decision already
 * says so.
 */
function renderStatus(shipment: ShownShipment): Html {
  const { estado, comercio, eventos } = shipment
  const actual = eventos.find(({ tipo }) => tipo === `guia.${estado}`)
  const motivo = actual && reasonOf(actual)
  // For a failed attempt, the reason is the heading, because people want to know it. Screen readers read the state
  // before it.
  const fallido = estado === 'intento_fallido' && motivo !== undefined
  return stateLabel({
    estado,
    word: fallido
      ? html`<span class="oculto">${GUIA_STATE_WORDS[estado]}: </span>${capitalized(motivo)}`
      : GUIA_STATE_WORDS[estado],
    said: html`${motivo !== undefined && !fallido && html`<p class="motivo">Motivo: ${motivo}.</p>`}${whenItComes(shipment)}${!decidedDay(shipment) && html`<p>${NEXT_SENTENCES[estado](comercio)}</p>`}`,
    rest: renderProgress(estado),
  })
}

function historial({ estado, zona, eventos, hasMore }: ShownShipment): Html {
  const clock = createClock(zona)
  return html`<section aria-labelledby="historial"><h2 id="historial">Historial</h2>
${timeline(
  estado,
  eventos.map((evento) => {
    const iso = evento.ocurrido_en.toISOString()
    const reason = reasonOf(evento)
    const eventWords = EVENT_WORDS[evento.tipo] ?? evento.tipo
    return { text: reason ? `${eventWords}: ${reason}` : eventWords, time: { iso, words: clock.formatShort(iso) } }
  }),
)}
${hasMore && html`<p class="suave">Hay pasos más antiguos que no se muestran.</p>\n`}<p class="suave">De lo más reciente a lo más antiguo, en ${clock.nombre}.</p></section>`
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
  cuerpo: html`<h1>No encontramos ese envío</h1>
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
