import { pino } from 'pino'
import type { Config } from './config.ts'

export type Log = pino.Logger

/** Structured lines on standard output. Phones are masked by whoever logs them; secrets and coordinates are never logged. */
export const crearLog = (
  nivel: Config['logLevel'],
  destino: pino.DestinationStream = pino.destination({ sync: false }),
): Log => pino({ level: nivel, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, destino)
