// Days of examples, relative to the reader's day. This file imports nothing, because browsers use it and the generator
// copies it into the SDK.

/** Days of the years 0000 and 0001, also as the date of an instant. */
const RELATIVE_DAY = /(?<![\d-])000[01]-\d\d-\d\d(?![\d-])/g
/** Day that stands for today. */
const TODAY = new Date(0).setUTCFullYear(1, 0, 1)
const SUNDAY = 0
const DAY_MS = 24 * 3_600_000

/**
 * Replaces the relative days of a text's examples by days near `today`. The year 0001 is a relative calendar:
 * `0001-01-01` is today, `0001-01-04` is in 3 days, and `0000-12-31` is yesterday. A future day that would be a Sunday
 * becomes the Monday after it.
 * @param today day of the reader, such as «2026-11-25»
 */
export const withRelativeDays = (text: string, today: string): string =>
  text.replace(RELATIVE_DAY, (relative) => {
    const distance = Date.parse(`${relative}T00:00:00Z`) - TODAY
    const day = new Date(Date.parse(`${today}T00:00:00Z`) + distance)
    if (distance > 0 && day.getUTCDay() === SUNDAY) day.setTime(day.getTime() + DAY_MS)
    return day.toISOString().slice(0, relative.length)
  })
