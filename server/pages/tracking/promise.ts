import { type Html, html } from '../../platform/html.ts'
import { createClock } from '../../platform/time/clock.ts'
import { addDays, dayInWords } from '../../platform/time/day.ts'
import type { ShownShipment } from './shipment.ts'

/** Describes a day relative to another day: «hoy», «mañana», «ayer», «el miércoles 25 de noviembre». */
export function sayDay(day: string, today: string): string {
  if (day === today) return 'hoy'
  if (day === addDays(today, 1)) return 'mañana'
  return day === addDays(today, -1) ? 'ayer' : `el ${dayInWords(day)}`
}

/** Returns the day and the time of an instant: «hoy a las 10:42». */
export function sayTime(instant: Date, { zona, now }: Pick<ShownShipment, 'zona' | 'now'>): string {
  const clock = createClock(zona)
  const [text, nowText] = [instant.toISOString(), now.toISOString()]
  return `${sayDay(clock.dia(text), clock.dia(nowText))} a las ${clock.hora(text)}`
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
  const current = eventos.find(({ tipo }) => tipo === `guia.${estado}`)
  const beginning = HAPPENED[estado]
  const lastVisit = current && beginning && `${beginning} ${sayTime(current.ocurrido_en, shipment)}.`
  const day = decidedDay(shipment)
  if (!lastVisit && !day) return false
  return html`<p class="promesa">${lastVisit}${lastVisit && day && ' '}${day}</p>`
}

/** Describes the decision about the parcel, if it is still valid. */
export function decidedDay({ estado, decision, zona, now }: ShownShipment): Html | false {
  if (!decision || !['tomada', 'aplicada'].includes(decision.estado)) return false
  const { accion, fecha, franja } = decision
  const tomada = decision.estado === 'tomada'
  if (accion === 'devolver') return tomada && html`Se decidió que <b>vuelva a la tienda</b>.`
  const today = createClock(zona).dia(now.toISOString())
  if (fecha === null || fecha < today) return false
  // A courier who sets out before the decided day already carries the decision out.
  if (!tomada && (estado !== 'en_ruta' || fecha !== today)) return false
  const dayWords = `${sayDay(fecha, today)}${franja ? `, de ${franja.desde} a ${franja.hasta}` : ''}`
  return tomada ? html`Lo llevamos <b>${dayWords}</b>.` : html`Se pidió para <b>${dayWords}</b>.`
}
