import type { ParseArgsOptionsConfig } from 'node:util'
import { ErrorApi, ErrorConexion, ErrorRespuesta, type Guias } from '@guias/sdk'

/** The error of an order that is asked for wrongly: told in one line, with the help near. */
export class ErrorDeUso extends Error {}

/** The exit codes of the program, for scripts; `--help` says the same. */
export const SALIDA = { bien: 0, rechazo: 1, uso: 2, conexion: 3, interrumpida: 130 } as const

export type Valores = Record<string, string | boolean | (string | boolean)[] | undefined>

export interface Contexto {
  /** Makes the client, only when it is asked for: some orders have to look at their arguments first. */
  api(): Guias
  /** A digest of key and address, which says whose an order is: one merchant's place in the feed isn't another's. */
  cuenta(): string
  posicionales: string[]
  /** The text of an option, if it was given. */
  texto(nombre: string): string | undefined
  si(nombre: string): boolean
  json: boolean
  /** The signal that Ctrl-C aborts. */
  signal: AbortSignal
}

export interface Orden {
  resumen: string
  /** The help of an order, without the options common to all. */
  ayuda: string
  opciones: ParseArgsOptionsConfig
  /** How many arguments without a name an order takes. */
  posicionales: [minimo: number, maximo: number]
  ejecutar(contexto: Contexto): Promise<number>
}

/** Reads a numeric option: at least `minimo`, and `omision` if it is not given. */
export function numero(contexto: Contexto, nombre: string, omision: number, minimo: number): number {
  const texto = contexto.texto(nombre)
  if (texto === undefined) return omision
  const valor = Number(texto)
  if (texto.trim() !== '' && Number.isFinite(valor) && valor >= minimo) return valor
  throw new ErrorDeUso(`--${nombre} debe ser un número de ${minimo} en adelante y llegó «${texto}».`)
}

/** Waits so many milliseconds; aborted, it ends early and without failing. */
export function dormir(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((listo) => {
    const terminar = () => {
      clearTimeout(reloj)
      signal.removeEventListener('abort', terminar)
      listo()
    }
    const reloj = setTimeout(terminar, ms)
    signal.addEventListener('abort', terminar)
    if (signal.aborted) terminar()
  })
}

/** Is the error one that passes, which an order that follows something waits out? */
export const esPasajero = (error: unknown): error is ErrorApi | ErrorConexion | ErrorRespuesta =>
  error instanceof ErrorConexion ||
  ((error instanceof ErrorApi || error instanceof ErrorRespuesta) && (error.status >= 500 || error.status === 429))
