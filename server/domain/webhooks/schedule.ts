import { REINTENTOS } from '../../generado/contrato/vocabulario.ts'

const SEGUNDO = 1_000
const MINUTO = 60 * SEGUNDO
const HORA = 60 * MINUTO

/** Wait before each attempt, in milliseconds, from the first attempt to the last. */
export const RETRY_WAITS: readonly number[] = REINTENTOS.esperas_s.map((segundos) => segundos * SEGUNDO)

/**
 * Maximum share of a wait that is added at random, so that deliveries that failed together are not retried together.
 */
const VARIACION = REINTENTOS.variacion
const MAXIMO_RETRY_AFTER = REINTENTOS.retry_after_maximo_s * SEGUNDO

/**
 * Returns the time when the next attempt is due, after `hechos` attempts; undefined after the last attempt.
 * @param retryAfter unparsed `Retry-After` header of the response; honoured up to 24 hours, and never to shorten a wait
 * @param azar random number from 0 to 1
 */
export function nextAttempt(hechos: number, ahora: Date, retryAfter: string | null, azar: number): Date | undefined {
  const espera = RETRY_WAITS[hechos]
  if (espera === undefined) return undefined
  const pedida = Math.min(readRetryAfter(retryAfter, ahora) ?? 0, MAXIMO_RETRY_AFTER)
  return new Date(ahora.getTime() + Math.max(espera * (1 + VARIACION * azar), pedida))
}

/**
 * Parses `Retry-After` (RFC 9110, 10.2.3), a number of seconds or a date.
 * @returns milliseconds from now; undefined if the text is neither
 */
export function readRetryAfter(texto: string | null, ahora: Date): number | undefined {
  const limpio = texto?.trim() ?? ''
  if (/^\d+$/.test(limpio)) return Number(limpio) * SEGUNDO
  // `Date.parse` accepts far more than the dates of HTTP, which all begin with the name of a day.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(limpio)) return undefined
  // The oldest of the three forms has no time zone. All three forms are in GMT.
  const fecha = Date.parse(/GMT$/.test(limpio) ? limpio : `${limpio} GMT`)
  return Number.isNaN(fecha) ? undefined : Math.max(0, fecha - ahora.getTime())
}

/**
 * Number of failures in a row from which an endpoint gets one delivery at a time, as a probe, until an attempt
 * succeeds.
 */
export const FAILURES_TO_BRAKE = 3
/** Minimum pause between two probes, in milliseconds. */
export const MIN_BRAKE = SEGUNDO
/** Maximum pause between two probes, in milliseconds. */
export const MAX_BRAKE = MINUTO

/** Time after which an endpoint that only failed is disabled, in milliseconds. */
export const FAILURE_WINDOW = 5 * 24 * HORA
/** Minimum number of failures for which an endpoint is disabled after {@link FAILURE_WINDOW}. */
export const MIN_FAILURES = 20
/**
 * Percentages of {@link FAILURE_WINDOW} at which the operator is warned. The merchant sees the latest one in
 * `fallas.ventana`.
 */
export const WARNING_POINTS: readonly number[] = [50, 90]
