import { addDays, isDay, WEEKDAYS } from './day.ts'

// Days on which a courier company delivers nothing. Days are texts, as in `day.ts`.

const withoutAccents = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '')
const WEEKDAY_NAMES = WEEKDAYS.map(withoutAccents)

/** Days without deliveries. */
export interface RestDays {
  /** Days of the week, from 0 (Sunday). */
  weekdays: readonly number[]
  /** True if Guatemala's holidays are such days. */
  guatemala: boolean
  /** Single days («2026-12-24»), and days of every year («12-24»). */
  days: readonly string[]
}

/** Sundays and Guatemala's holidays. */
export const GUATEMALAN_REST_DAYS: RestDays = { weekdays: [0], guatemala: true, days: [] }

const weekdayOf = (day: string) => new Date(`${day}T00:00:00Z`).getUTCDay()

/** Returns Easter Sunday of a year in the Gregorian calendar (Meeus, Jones, Butcher). */
export function easterOf(year: number): string {
  const [century, yearOfCentury, lunar] = [Math.floor(year / 100), year % 100, year % 19]
  const correction = Math.floor((8 * century + 13) / 25)
  const epact = (19 * lunar + century - Math.floor(century / 4) - correction + 15) % 30
  const offset = (32 + 2 * (century % 4) + 2 * Math.floor(yearOfCentury / 4) - epact - (yearOfCentury % 4)) % 7
  const shift = Math.floor((lunar + 11 * epact + 22 * offset) / 451)
  return addDays(`${year}-03-22`, epact + offset - 7 * shift)
}

/**
 * Returns the day on which the holiday of 30 June is taken: the Monday before a Tuesday or Wednesday, the Monday after
 * any later day of the week (Decreto 19-2018; since 2020 for this holiday alone).
 */
function armyDayOf(year: number): string {
  const day = `${year}-06-30`
  const weekday = weekdayOf(day) || 7
  return addDays(day, weekday <= 3 ? 1 - weekday : 8 - weekday)
}

/** Holidays that are the same day each year. Half holidays (24 and 31 December) and those of one town are not here. */
const FIXED_HOLIDAYS = ['01-01', '05-01', '09-15', '10-20', '11-01', '12-25']

/** Returns true if the day is a national holiday of Guatemala (Código de Trabajo, article 127). */
function isGuatemalanHoliday(day: string): boolean {
  const year = Number(day.slice(0, 4))
  const easter = easterOf(year)
  return (
    FIXED_HOLIDAYS.includes(day.slice(5)) || day === armyDayOf(year) || (day < easter && day >= addDays(easter, -3))
  )
}

/** Returns true if the company delivers nothing on the day. */
export const isRestDay = ({ weekdays, guatemala, days }: RestDays, day: string): boolean =>
  weekdays.includes(weekdayOf(day)) ||
  days.includes(day) ||
  days.includes(day.slice(5)) ||
  (guatemala && isGuatemalanHoliday(day))

/** Reads days without deliveries from a list such as «domingo, guatemala, 12-24»; undefined if it is no such list. */
export function readRestDays(text: string): RestDays | undefined {
  if (text === 'none') return { weekdays: [], guatemala: false, days: [] }
  const entries = text.split(',').map((entry) => withoutAccents(entry.trim().toLowerCase()))
  const weekdays = WEEKDAY_NAMES.flatMap((name, weekday) => (entries.includes(name) ? weekday : []))
  const days = entries.filter((entry) => /^\d/.test(entry))
  // 29 February is a day of some years.
  const areDays = days.every((day) => isDay(day.length === 5 ? `2028-${day}` : day))
  const isKnown = (entry: string) => entry === 'guatemala' || days.includes(entry) || WEEKDAY_NAMES.includes(entry)
  if (!areDays || !entries.every(isKnown) || weekdays.length === 7) return undefined
  return { weekdays, guatemala: entries.includes('guatemala'), days }
}
