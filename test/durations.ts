/** Durations in milliseconds. */
export const MINUTE_MS = 60_000
export const HORA = 60 * MINUTE_MS
