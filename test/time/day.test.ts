import { expect, test } from 'vitest'
import { startOfDay } from '../../server/platform/time/day.ts'

test.each([
  ['2026-11-25T05:59:59.999Z', 'America/Guatemala', '2026-11-24T06:00:00.000Z'],
  ['2026-11-25T06:00:00Z', 'America/Guatemala', '2026-11-25T06:00:00.000Z'],
  // The day on which the clock goes back has 25 hours, and the one on which it goes forward 23.
  ['2026-10-25T20:00:00Z', 'Europe/Madrid', '2026-10-24T22:00:00.000Z'],
  ['2026-03-29T20:00:00Z', 'Europe/Madrid', '2026-03-28T23:00:00.000Z'],
  ['2026-11-25T00:00:00Z', 'UTC', '2026-11-25T00:00:00.000Z'],
])('the day of %s in %s began at %s', (instant, zone, from) => {
  expect(startOfDay(new Date(instant), zone).toISOString()).toBe(from)
})
