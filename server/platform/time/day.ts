import { type Clock, createClock, MONTHS } from './clock.ts'
import { readInstant } from './instant.ts'
import { MINUTE_MS } from './units.ts'

// Calendar days as texts, «2026-11-25» (RFC 3339, full-date). Texts of days sort like the days.

/** Returns true if the text is a day of the calendar, from 1970 to 9999. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && readInstant(`${text}T00:00:00Z`) !== undefined

/** Returns the day of an instant in an IANA time zone. */
export const dayIn = (instant: Date, zone: string): string => createClock(zone).dia(instant.toISOString())

/** Returns the instant at which the day of an instant began in an IANA time zone. */
export function startOfDay(instant: Date, zone: string): Date {
  const clock = createClock(zone)
  return beginningOf(clock.dia(instant.toISOString()), clock)
}

/** Returns the instant at which a day begins by a clock. */
export function beginningOf(day: string, clock: Clock): Date {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  const midnightAt = (minutes: number) => new Date(midnight - minutes * MINUTE_MS)
  // The offset may have changed since midnight.
  return midnightAt(clock.minutes(midnightAt(clock.minutes(new Date(midnight).toISOString())).toISOString()))
}

/** Returns a day in short, in Spanish and without the year: «mié 25 nov». It fits a narrow field with large letters. */
export const shortDay = (day: string): string => dayInWords(day).replace(/^(...)\S* (\d+) de (...).*$/, '$1 $2 $3')

/** Names of the days of the week, from Sunday. */
export const WEEKDAYS = ['domingo', 'lunes', 'martes', 'miércoles', 'jueves', 'viernes', 'sábado']

/** Returns a day in words, in Spanish and without the year: «miércoles 25 de noviembre». */
export function dayInWords(day: string): string {
  const [, month = '', number = ''] = day.split('-')
  return `${WEEKDAYS[new Date(`${day}T00:00:00Z`).getUTCDay()]} ${Number(number)} de ${MONTHS[Number(month) - 1]}`
}

/** Returns the day that is some days after another. */
export function addDays(day: string, days: number): string {
  const other = new Date(`${day}T00:00:00Z`)
  other.setUTCDate(other.getUTCDate() + days)
  return other.toISOString().slice(0, '2026-11-25'.length)
}
