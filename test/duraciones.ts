/** Durations in milliseconds. */
export const MINUTO = 60_000
export const HORA = 60 * MINUTO
