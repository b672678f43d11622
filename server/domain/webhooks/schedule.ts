import { REINTENTOS } from '../../generated/contract/vocabulary.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../platform/time/units.ts'

/** Wait before each attempt, in milliseconds, from the first attempt to the last. */
export const RETRY_WAITS: readonly number[] = REINTENTOS.esperas_s.map((seconds) => seconds * SECOND_MS)

/**
 * Maximum share of a wait that is added at random, so that deliveries that failed together are not retried together.
 */
const VARIATION = REINTENTOS.variacion
const MAX_RETRY_AFTER_MS = REINTENTOS.retry_after_maximo_s * SECOND_MS

/**
 * Returns the time when the next attempt is due, after `attemptsDone` attempts; undefined after the last attempt.
 * @param retryAfter unparsed `Retry-After` header of the response; honoured up to 24 hours, and never to shorten a wait
 * @param random random number from 0 to 1
 */
export function nextAttempt(
  attemptsDone: number,
  now: Date,
  retryAfter: string | null,
  random: number,
): Date | undefined {
  const delay = RETRY_WAITS[attemptsDone]
  if (delay === undefined) return undefined
  const requestedDelay = Math.min(readRetryAfter(retryAfter, now) ?? 0, MAX_RETRY_AFTER_MS)
  return new Date(now.getTime() + Math.max(delay * (1 + VARIATION * random), requestedDelay))
}

/**
 * Parses `Retry-After` (RFC 9110, 10.2.3), a number of seconds or a date.
 * @returns milliseconds from now; undefined if the text is neither
 */
export function readRetryAfter(text: string | null, now: Date): number | undefined {
  const trimmed = text?.trim() ?? ''
  if (/^\d+$/.test(trimmed)) return Number(trimmed) * SECOND_MS
  // `Date.parse` accepts far more than the dates of HTTP, which all begin with the name of a day.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(trimmed)) return undefined
  // The oldest of the three forms has no time zone. All three forms are in GMT.
  const date = Date.parse(/GMT$/.test(trimmed) ? trimmed : `${trimmed} GMT`)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime())
}

/**
 * Number of failures in a row from which an endpoint gets one delivery at a time, as a probe, until an attempt
 * succeeds.
 */
export const FAILURES_TO_BRAKE = 3
/** Minimum pause between two probes, in milliseconds. */
export const MIN_BRAKE = SECOND_MS
/** Maximum pause between two probes, in milliseconds. */
export const MAX_BRAKE = MINUTE_MS

/** Time after which an endpoint that only failed is disabled, in milliseconds. */
export const FAILURE_WINDOW = 5 * DAY_MS
/** Minimum number of failures for which an endpoint is disabled after {@link FAILURE_WINDOW}. */
export const MIN_FAILURES = 20
/**
 * Percentages of {@link FAILURE_WINDOW} at which the operator is warned. The merchant sees the latest one in
 * `fallas.ventana`.
 */
export const WARNING_POINTS: readonly number[] = [50, 90]
