import { pino } from 'pino'
import type { Config } from './config/config.ts'

export type Log = pino.Logger

interface ErrorVisible {
  tipo: string
  mensaje: string
  codigo?: unknown
  restriccion?: unknown
  pila?: string | undefined
  causa?: ErrorVisible
}

/** An Error, or what a library passes in its place. */
const esError = (error: unknown): error is Error & { code?: unknown; constraint?: unknown } =>
  typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'

/** Of an error only what cannot hold a merchant's data: PostgreSQL's `detail` and `where` quote whole rows. */
function mostrarError(error: unknown, nivel = 0): ErrorVisible {
  if (!esError(error)) return { tipo: typeof error, mensaje: String(error).slice(0, 200) }
  const { code, constraint } = error
  return {
    tipo: error.name ?? 'object',
    mensaje: error.message,
    ...(code === undefined ? {} : { codigo: code }),
    ...(constraint === undefined ? {} : { restriccion: constraint }),
    pila: error.stack,
    ...(error.cause === undefined || nivel > 3 ? {} : { causa: mostrarError(error.cause, nivel + 1) }),
  }
}

/**
 * Structured lines on standard output. Phones are masked by whoever logs them; secrets and coordinates are never
 * logged.
 */
export const crearLog = (
  nivel: Config['logLevel'],
  // A line a request is a system call a request: they go out together, a tenth of a second late at most.
  destino: pino.DestinationStream = pino.destination({ sync: false, minLength: 4_096, periodicFlush: 100 }),
): Log =>
  pino(
    {
      level: nivel,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (e) => mostrarError(e) },
    },
    destino,
  )
