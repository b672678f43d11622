import { REINTENTOS } from '../contrato/generado/vocabulario.ts'

const SEGUNDO = 1_000
const MINUTO = 60 * SEGUNDO
const HORA = 60 * MINUTO

/** The wait before each attempt, in milliseconds, first to last. */
export const ESPERAS: readonly number[] = REINTENTOS.esperas_s.map((segundos) => segundos * SEGUNDO)

/** The share of a wait that chance adds to it at most, so that what failed together doesn't come back together. */
const VARIACION = REINTENTOS.variacion
const MAXIMO_RETRY_AFTER = REINTENTOS.retry_after_maximo_s * SEGUNDO

/**
 * When the next attempt is due, after `hechos` attempts; undefined: that was the last.
 * @param retryAfter the answer's header, as it came; honoured up to 24 hours, and never to hurry
 * @param azar a number from 0 to 1
 */
export function proximoIntento(hechos: number, ahora: Date, retryAfter: string | null, azar: number): Date | undefined {
  const espera = ESPERAS[hechos]
  if (espera === undefined) return undefined
  const pedida = Math.min(leerRetryAfter(retryAfter, ahora) ?? 0, MAXIMO_RETRY_AFTER)
  return new Date(ahora.getTime() + Math.max(espera * (1 + VARIACION * azar), pedida))
}

/** `Retry-After` (RFC 9110, 10.2.3), seconds or a date, as milliseconds from now; undefined: neither. */
export function leerRetryAfter(texto: string | null, ahora: Date): number | undefined {
  const limpio = texto?.trim() ?? ''
  if (/^\d+$/.test(limpio)) return Number(limpio) * SEGUNDO
  // Date.parse takes far more than HTTP's dates, and each of those begins with the name of a day.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(limpio)) return undefined
  // The oldest of the three forms names no zone; all of them are GMT.
  const fecha = Date.parse(/GMT$/.test(limpio) ? limpio : `${limpio} GMT`)
  return Number.isNaN(fecha) ? undefined : Math.max(0, fecha - ahora.getTime())
}

/** Failed attempts in a row after which an endpoint gets one delivery at a time, as a probe, until one goes well. */
export const FALLAS_PARA_FRENAR = 3
/** The shortest and the longest pause between two probes, in milliseconds. */
export const FRENO_MINIMO = SEGUNDO
export const FRENO_MAXIMO = MINUTO

/** The time in milliseconds after which an endpoint that did nothing but fail is disabled. */
export const VENTANA_DE_FALLAS = 5 * 24 * HORA
export const MINIMO_DE_FALLAS = 20
/**
 * The shares of {@link VENTANA_DE_FALLAS}, in per cent, at which the merchant's other endpoints and the operator are
 * warned.
 */
export const AVISOS: readonly number[] = [50, 90]
