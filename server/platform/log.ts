import { pino } from 'pino'
import type { Config } from './config/config.ts'

export type Log = pino.Logger

interface ErrorVisible {
  tipo: string
  mensaje: string
  codigo?: unknown
  constraint?: unknown
  stack?: string | undefined
  causa?: ErrorVisible
}

/** Reports whether a value is an Error, or an object with a message that a library passes instead. */
const isErrorLike = (error: unknown): error is Error & { code?: unknown; constraint?: unknown } =>
  typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'

/**
 * Selects the parts of an error that cannot contain a merchant's data. PostgreSQL's `detail` and `where` are left out,
 * because they quote whole rows.
 */
function showError(error: unknown, level = 0): ErrorVisible {
  if (!isErrorLike(error)) return { tipo: typeof error, mensaje: String(error).slice(0, 200) }
  const { code, constraint } = error
  return {
    tipo: error.name ?? 'object',
    mensaje: error.message,
    ...(code === undefined ? {} : { codigo: code }),
    ...(constraint === undefined ? {} : { constraint }),
    stack: error.stack,
    ...(error.cause === undefined || level > 3 ? {} : { causa: showError(error.cause, level + 1) }),
  }
}

const NOWHERE: pino.DestinationStream = { write: () => {} }

/**
 * Opens standard output for lines. A write for each line would be a system call for each request, so lines go out
 * together. A line is written at most a tenth of a second late. The destination flushes ten times a second.
 */
const standardOutput = () => pino.destination({ sync: false, minLength: 4_096, periodicFlush: 100 })

/**
 * Creates the log: structured lines on standard output. The code that logs a telephone masks it; secrets and
 * coordinates are never logged.
 */
export const createLog = (
  level: Config['logLevel'],
  destino: pino.DestinationStream = level === 'silent' ? NOWHERE : standardOutput(),
): Log =>
  pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (e) => showError(e) },
    },
    destino,
  )
