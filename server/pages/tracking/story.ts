import { GUIA_STATE_WORDS } from '../../domain/estados/estados.ts'
import * as icons from '../../generated/contract/icons.ts'
import type { Estado } from '../../generated/contract/types/index.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { type Html, html } from '../../platform/html.ts'
import { createClock } from '../../platform/time/clock.ts'
import { capitalized } from '../../platform/words.ts'
import { facts, label, stateLabel, timeline } from '../ui/components.ts'
import { reasonOf, renderProgress } from './estados.ts'
import { eventWords } from './history.ts'
import { decidedDay, whenItComes } from './promise.ts'
import type { ShownShipment } from './shipment.ts'

// Story of a parcel as its recipient reads it on each page of a link: state and day, what the page can do, history.

/** Sentences about what may happen next, by state; null if nothing can. */
export const NEXT_SENTENCES: Readonly<Record<Estado, ((comercio: string) => string) | null>> = {
  aceptado: (comercio) => `El repartidor pasará por el paquete. Hasta entonces, ${comercio} puede cancelar el envío.`,
  recolectado: () => 'El paquete pasa por una bodega o sale directo a ruta de entrega.',
  en_bodega: () => 'El paquete sale a ruta de entrega o a otra bodega. También puede entregarse en la misma bodega.',
  en_transito: () => 'El paquete llega a otra bodega o sale a ruta de entrega.',
  en_ruta: () => 'El repartidor va a entregarlo.',
  intento_fallido: () => 'El repartidor lo intenta otra vez, o el paquete espera en una bodega.',
  entregado: null,
  en_devolucion: (comercio) => `El paquete va de regreso: ${comercio} lo recibirá.`,
  devuelto: (comercio) => `${comercio} ya tiene el paquete de vuelta.`,
  extraviado: () => 'Si aparece, va a una bodega o de regreso a quien lo envió.',
  cancelado: (comercio) => `${comercio} canceló el envío antes de que se recolectara.`,
}

interface StoryOptions {
  /** First part: the state, or thanks for what the recipient just did. */
  heading: Html
  /** Part that lets the recipient act, or says how. */
  actions: Html
}

/** Returns the story of a parcel. */
export const renderStory = (
  shipment: ShownShipment,
  { heading, actions }: StoryOptions,
): Html => html`<p class="suave">De <b>${shipment.comercio}</b> · guía <b class="codigo">${inGroups(shipment.guia)}</b></p>
<div id="relato"><div>${heading}
${actions}</div>
<div>${history(shipment)}
${facts([
  ['Para', shipment.initial !== null && `${shipment.initial}.`],
  ['Municipio de destino', shipment.municipio],
  ['Intentos de entrega fallidos', shipment.intentos > 0 && shipment.intentos],
])}</div></div>`

/**
 * Draws the state, its reason, the day, and the progress. Also says what may happen next, unless a decision already
 * says so.
 * @param isBrief true to leave out the progress and what may happen next, for a page that asks a question
 */
export function renderStatus(shipment: ShownShipment, isBrief = false): Html {
  const { estado, comercio, eventos } = shipment
  const current = eventos.find(({ tipo }) => tipo === `guia.${estado}`)
  const motivo = current && reasonOf(current)
  // For a failed attempt, the reason is the heading, because people want to know it. Screen readers read the state
  // before it.
  const hasFailed = estado === 'intento_fallido' && motivo !== undefined
  const next = isBrief || decidedDay(shipment) ? undefined : NEXT_SENTENCES[estado]?.(comercio)
  return stateLabel({
    estado,
    word: hasFailed
      ? html`<span class="oculto">${GUIA_STATE_WORDS[estado]}: </span>${capitalized(motivo)}`
      : GUIA_STATE_WORDS[estado],
    said: html`${motivo !== undefined && !hasFailed && html`<p class="motivo">Motivo: ${motivo}.</p>`}${whenItComes(shipment)}${next !== undefined && html`<p>${next}</p>`}`,
    rest: !isBrief && renderProgress(estado),
  })
}

/** Draws thanks for what the recipient did, with the day that was decided and the progress. */
export function renderThanks(shipment: ShownShipment, word: string, said?: string): Html {
  const day = decidedDay(shipment)
  return label({
    tone: 'bien',
    icon: icons.CircleCheck,
    word,
    said: html`${day && html`<p class="promesa">${day}</p>`}${said !== undefined && html`<p>${said}</p>`}`,
    rest: renderProgress(shipment.estado),
  })
}

function history({ estado, zona, eventos, hasMore }: ShownShipment): Html {
  const clock = createClock(zona)
  return html`<section aria-labelledby="historial"><h2 id="historial">Historial</h2>
${timeline(
  estado,
  eventos.map((evento) => {
    const iso = evento.ocurrido_en.toISOString()
    return { text: eventWords(evento), time: { iso, words: clock.formatShort(iso) } }
  }),
)}
${hasMore && html`<p class="suave">Hay pasos más antiguos que no se muestran.</p>\n`}<p class="suave">De lo más reciente a lo más antiguo, en ${clock.nombre}.</p></section>`
}
