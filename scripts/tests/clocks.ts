import { startOfDay } from '../../server/platform/time/day.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'

/** Clock and environment of one run of all tests. */
export interface MovedClock {
  name: string
  /** Returns the instant at which the run starts. */
  start: (now: Date) => Date
  env: Readonly<Record<string, string>>
}

/** Returns the first instant from `from` on, in steps of a minute, at which a local clock shows such a text. */
function firstLocal(from: number, zone: string, matches: (day: string, time: string) => boolean): Date {
  const formatter = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
  // Looks for the day first: a search by minutes would need millions of steps.
  for (let at = startOfDay(new Date(from), zone).getTime(); ; at += DAY_MS) {
    const [day = ''] = formatter.format(new Date(at + 12 * HOUR_MS)).split(' ')
    if (!matches(day, '')) continue
    const midnight = startOfDay(new Date(at + 12 * HOUR_MS), zone).getTime()
    for (let minute = midnight; minute < midnight + DAY_MS; minute += MINUTE_MS) {
      const [, time = ''] = formatter.format(new Date(minute)).split(' ')
      if (minute >= from && matches(day, time)) return new Date(minute)
    }
  }
}

/** Returns a start at a time of day, on the first day from `days` after now on that `isDay` accepts. */
const on =
  (days: number, zone: string, clock: string, isDay: (day: string) => boolean) =>
  (now: Date): Date =>
    firstLocal(now.getTime() + days * DAY_MS, zone, (day, time) => isDay(day) && (time === '' || time === clock))

const nextDay = (day: string) => new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10)
/** Second Sunday of March, when summer time begins in Los Angeles. */
const startsSummerTime = (day: string) =>
  /-03-(0[89]|1[0-4])$/.test(day) && new Date(`${day}T00:00:00Z`).getUTCDay() === 0

/** Clocks of `npm run test:calendar`. Together they cover distances, days, times of day, time zones and languages. */
export const CLOCKS: readonly MovedClock[] = [
  {
    name: 'in 1 day at 04:30 UTC, when Guatemala still has yesterday; machine in Guatemala',
    start: on(1, 'UTC', '04:30', () => true),
    env: { TZ: 'America/Guatemala' },
  },
  {
    name: 'first day of a month, in 40 days or more; machine in Kiritimati',
    start: on(40, 'Pacific/Kiritimati', '00:05', (day) => day.endsWith('-01')),
    env: { TZ: 'Pacific/Kiritimati' },
  },
  {
    name: 'last day of a month, in 100 days or more; language C',
    start: on(100, 'America/Guatemala', '12:00', (day) => nextDay(day).endsWith('-01')),
    env: { TZ: 'UTC', LANG: 'C', LC_ALL: 'C', LANGUAGE: 'C' },
  },
  {
    name: 'two minutes before summer time, in 400 days or more; machine in Los Angeles',
    start: on(400, 'America/Los_Angeles', '01:58', startsSummerTime),
    env: { TZ: 'America/Los_Angeles' },
  },
  { name: 'a leap day', start: on(1, 'America/Guatemala', '12:00', (day) => day.endsWith('-02-29')), env: {} },
  {
    name: '31 December at 23:58 in Guatemala',
    start: on(1, 'America/Guatemala', '23:58', (day) => day.endsWith('-12-31')),
    env: {},
  },
]

/** Clocks of the samples' test, which `.ci/run` calls. */
export const CLOCKS_OF_SAMPLES: readonly MovedClock[] = [40, 400].map((days) => ({
  name: `samples and collection in ${days} days`,
  start: (now) => new Date(now.getTime() + days * DAY_MS),
  env: {},
}))
