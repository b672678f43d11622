import { createClock } from '../../platform/time/clock.ts'
import { addDays, dayInWords } from '../../platform/time/day.ts'
import { type Html, html } from '../html.ts'
import type { ShownShipment } from './shipment.ts'

/** Describes a day relative to another day: «hoy», «mañana», «ayer», «el miércoles 25 de noviembre». */
export function sayDay(dia: string, hoy: string): string {
  if (dia === hoy) return 'hoy'
  if (dia === addDays(hoy, 1)) return 'mañana'
  return dia === addDays(hoy, -1) ? 'ayer' : `el ${dayInWords(dia)}`
}

/** Returns the day and the time of an instant: «hoy a las 10:42». */
export function sayTime(instant: Date, { zona, ahora }: Pick<ShownShipment, 'zona' | 'ahora'>): string {
  const clock = createClock(zona)
  const [texto, nowText] = [instant.toISOString(), ahora.toISOString()]
  return `${sayDay(clock.dia(texto), clock.dia(nowText))} a las ${clock.hora(texto)}`
}

/** Beginning of the sentence with the time of an event, for the states that have such a sentence. */
const HAPPENED: Readonly<Partial<Record<ShownShipment['estado'], string>>> = {
  intento_fallido: 'Fuimos',
  entregado: 'Se entregó',
}

/**
 * Returns what is known about times: the last visit, and the day that was decided. Leaves out a day that is over or no
 * longer valid.
 */
export function whenItComes(shipment: ShownShipment): Html | false {
  const { estado, eventos } = shipment
  const actual = eventos.find(({ tipo }) => tipo === `guia.${estado}`)
  const beginning = HAPPENED[estado]
  const lastVisit = actual && beginning && `${beginning} ${sayTime(actual.ocurrido_en, shipment)}.`
  const dia = decidedDay(shipment)
  if (!lastVisit && !dia) return false
  return html`<p class="promesa">${lastVisit}${lastVisit && dia && ' '}${dia}</p>`
}

/** Describes the decision about the parcel, if it is still valid. */
export function decidedDay({ estado, decision, zona, ahora }: ShownShipment): Html | false {
  if (!decision || !['tomada', 'aplicada'].includes(decision.estado)) return false
  const { accion, fecha, franja } = decision
  const tomada = decision.estado === 'tomada'
  if (accion === 'devolver') return tomada && html`Se decidió que <b>vuelva a la tienda</b>.`
  const hoy = createClock(zona).dia(ahora.toISOString())
  if (fecha === null || fecha < hoy) return false
  // A courier who sets out before the decided day already carries the decision out.
  if (!tomada && (estado !== 'en_ruta' || fecha !== hoy)) return false
  const dayWords = `${sayDay(fecha, hoy)}${franja ? `, de ${franja.desde} a ${franja.hasta}` : ''}`
  return tomada ? html`Lo llevamos <b>${dayWords}</b>.` : html`Se pidió para <b>${dayWords}</b>.`
}
