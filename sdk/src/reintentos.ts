import { ErrorAbortado, ErrorApi, ErrorConexion, ErrorRespuesta } from './errores.js'

const BASE = 500
const TOPE = 8_000
/** Who asks for more is not to be waited for in the middle of a call: the caller is told. */
const ESPERA_MAXIMA = 60

/**
 * How Node, Bun and Deno tell of a connection that never was, or of a certificate that they didn't take: nothing can have
 * arrived. An `AggregateError` has one for each address.
 */
const SIN_CONEXION =
  /^Aggregate|\b(connect|getaddrinfo) E|CONNECT_TIMEOUT|ConnectionRefused|OpenSocket|\(Connect\)|bad port|secure TLS|CERT(_|\b)|UNABLE_TO|SSL\w+VERSION|HANDSHAKE/

/**
 * May a request that failed with this error pass if it is sent again, and may it be sent again? What isn't `repetible` is
 * repeated only when the first was certainly not done.
 */
export function pasara(error: unknown, repetible: boolean): boolean {
  if (error instanceof ErrorConexion) return repetible || !error.pudoLlegar
  if (!(error instanceof ErrorApi || error instanceof ErrorRespuesta)) return false
  if (error.status === 429 || (error instanceof ErrorApi && error.codigo === 'carrera_perdida')) return true
  return repetible && (error.status === 408 || error.status >= 500)
}

/** May what failed with this error be tried later, by who still has what was to be sent? */
export const esPasajero = (error: unknown) => pasara(error, true) || error instanceof ErrorAbortado

/** Milliseconds to wait before the next attempt; undefined if the service asks for longer than is worth waiting. */
export function pausa(error: unknown, intento: number): number | undefined {
  // Over the whole width: those whom one fault hit at once must not come back at once.
  const azar = Math.random() * Math.min(TOPE, BASE * 2 ** (intento - 1))
  const pide = error instanceof ErrorApi || error instanceof ErrorRespuesta ? error.esperarSegundos : null
  return pide === null ? azar : pide > ESPERA_MAXIMA ? undefined : pide * 1000 + azar
}

/** Waits so many milliseconds; aborted, it ends at once. */
export function dormir(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((listo) => {
    const terminar = () => {
      clearTimeout(reloj)
      signal?.removeEventListener('abort', terminar)
      listo()
    }
    const reloj = setTimeout(terminar, ms)
    signal?.addEventListener('abort', terminar)
  })
}

/** Is it certain, by what `fetch` failed with, that nothing was sent? */
export function noSalio(causa: unknown): boolean {
  if (!(causa instanceof Error)) return false
  const { name, code, message } = causa as Error & { code?: unknown }
  return SIN_CONEXION.test(`${name} ${code} ${message}`) || noSalio(causa.cause)
}
