import { ErrorAbortado, type ErrorApi, ErrorConexion, ErrorConflicto, type ErrorGuias } from './errors.js'

const BASE = 500
const MAX_DELAY_MS = 8_000
/**
 * Longest `Retry-After` that a call waits for, in seconds. If the service asks for more, the caller gets the error at
 * once.
 */
const MAX_WAIT_SECONDS = 60

/**
 * Matches the errors by which Node, Bun and Deno report a connection never made, or a certificate refused: nothing can
 * have arrived. An `AggregateError` has one error per address.
 */
const NO_CONNECTION =
  /^Aggregate|\b(connect|getaddrinfo) E|CONNECT_TIMEOUT|ConnectionRefused|OpenSocket|\(Connect\)|bad port|secure TLS|CERT(_|\b)|UNABLE_TO|SSL\w+VERSION|HANDSHAKE/

/**
 * Tells whether a failed request may succeed if sent again, and is safe to send again. A request that is not
 * `repetible` is repeated only if the service certainly did not execute it.
 */
export function canRetry(error: ErrorGuias, repetible: boolean): boolean {
  if (error instanceof ErrorConexion) return repetible || !error.pudoLlegar
  if (error instanceof ErrorConflicto) return error.codigo === 'carrera_perdida' && !error.secuencia
  const { estadoHttp = 0 } = error as Partial<ErrorApi>
  return estadoHttp === 429 || (repetible && (estadoHttp === 408 || estadoHttp >= 500))
}

/** Tells whether the caller may try the same request again later. An aborted request counts as well. */
export const isTransient = (error: ErrorGuias) => canRetry(error, true) || error instanceof ErrorAbortado

/**
 * Returns the milliseconds to wait before the next attempt: a random time below a bound that doubles from 0.5 s to 8 s,
 * plus `Retry-After`. Infinity if the service asks for more than {@link MAX_WAIT_SECONDS}.
 */
export function computeRetryDelay({ esperarSegundos: pide }: ErrorGuias, intento: number): number {
  // The random time spans the whole interval, so that clients that failed together do not return together.
  const jitter = Math.random() * Math.min(MAX_DELAY_MS, BASE * 2 ** (intento - 1))
  return pide === null ? jitter : pide > MAX_WAIT_SECONDS ? Infinity : pide * 1000 + jitter
}

/**
 * Returns a signal that is aborted with the caller's. Node warns of a leak when a signal has more than ten listeners, so
 * each request and each wait listens to its own. Node before 20.3 has no `AbortSignal.any`, and uses the caller's.
 */
export const ownSignal = (signal: AbortSignal | undefined): AbortSignal | undefined =>
  signal && (AbortSignal.any?.([signal]) ?? signal)

/** Waits `ms` milliseconds. Resolves early when `givenSignal` is aborted. */
export function sleepUnlessAborted(ms: number, givenSignal: AbortSignal | undefined): Promise<void> {
  const signal = ownSignal(givenSignal)
  return new Promise((listo) => {
    const finish = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', finish)
      listo()
    }
    const timer = setTimeout(finish, ms)
    signal?.addEventListener('abort', finish)
  })
}

/**
 * Matches the first rate in the headers `RateLimit` and `RateLimit-Policy`: the requests left (`r`), and the requests
 * (`q`) allowed in a number of seconds (`w`).
 */
const RATE_HEADERS = /;r=(\d+).*?;q=(\d+);w=(\d+)/

/**
 * Returns the milliseconds between two requests while fewer than a quarter of the key's requests are left; 0 if more are
 * left, or if the answer does not say (`RateLimit`, `RateLimit-Policy`).
 */
export function readPace(cabeceras: Headers): number {
  const ritmos = `${cabeceras.get('ratelimit')} ${cabeceras.get('ratelimit-policy')}`
  const [, remaining = 1, quota = 0, segundos = 0] = (RATE_HEADERS.exec(ritmos) ?? []).map(Number)
  return remaining < quota / 4 ? (segundos * 1000) / quota : 0
}

/** Tells whether an error of `fetch` proves that nothing was sent. */
export function wasNotSent(causa: unknown): boolean {
  if (!(causa instanceof Error)) return false
  const { name, code, message } = causa as Error & { code?: unknown }
  return NO_CONNECTION.test(`${name} ${code} ${message}`) || wasNotSent(causa.cause)
}
