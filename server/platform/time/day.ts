import { createClock, MONTHS } from './clock.ts'
import { readInstant } from './instant.ts'
import { MINUTE_MS } from './units.ts'

// Calendar days as texts, «2026-11-25» (RFC 3339, full-date). Texts of days sort like the days.

/** Returns true if the text is a day of the calendar, from 1970 to 9999. */
export const isDay = (texto: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(texto) && readInstant(`${texto}T00:00:00Z`) !== undefined

/** Returns the day of an instant in an IANA time zone. */
export const dayIn = (instant: Date, zona: string): string => createClock(zona).dia(instant.toISOString())

/** Returns the instant at which the day of an instant began in an IANA time zone. */
export function startOfDay(instant: Date, zona: string): Date {
  const clock = createClock(zona)
  const midnight = Date.parse(`${clock.dia(instant.toISOString())}T00:00:00Z`)
  const midnightAt = (minutes: number) => new Date(midnight - minutes * MINUTE_MS)
  // The offset may have changed since midnight.
  return midnightAt(clock.minutes(midnightAt(clock.minutes(instant.toISOString())).toISOString()))
}

/** Returns a day in short, in Spanish and without the year: «mié 25 nov». It fits a narrow field with large letters. */
export const shortDay = (dia: string): string => dayInWords(dia).replace(/^(...)\S* (\d+) de (...).*$/, '$1 $2 $3')

const WEEKDAYS = ['domingo', 'lunes', 'martes', 'miércoles', 'jueves', 'viernes', 'sábado']

/** Returns a day in words, in Spanish and without the year: «miércoles 25 de noviembre». */
export function dayInWords(dia: string): string {
  const [, mes = '', numero = ''] = dia.split('-')
  return `${WEEKDAYS[new Date(`${dia}T00:00:00Z`).getUTCDay()]} ${Number(numero)} de ${MONTHS[Number(mes) - 1]}`
}

/** Returns the day that is some days after another. */
export function addDays(dia: string, dias: number): string {
  const otro = new Date(`${dia}T00:00:00Z`)
  otro.setUTCDate(otro.getUTCDate() + dias)
  return otro.toISOString().slice(0, '2026-11-25'.length)
}
