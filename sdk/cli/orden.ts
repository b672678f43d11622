import type { ParseArgsOptionsConfig } from 'node:util'
import { ErrorApi, ErrorConexion, ErrorRespuesta, type Guias } from '@guias/sdk'

/** What is asked for wrongly: told in one line, and the help is near. */
export class ErrorDeUso extends Error {}

/** How it ends, for scripts. `--help` says the same. */
export const SALIDA = { bien: 0, rechazo: 1, uso: 2, conexion: 3, interrumpida: 130 } as const

export type Valores = Record<string, string | boolean | (string | boolean)[] | undefined>

export interface Contexto {
  /** Made when it is asked for: some orders have to look at their arguments first. */
  api(): Guias
  /** Of whom this is: one merchant's place in the feed isn't another's. */
  cuenta(): string
  posicionales: string[]
  /** An option's text. */
  texto(nombre: string): string | undefined
  si(nombre: string): boolean
  json: boolean
  /** Aborted by Ctrl-C. */
  signal: AbortSignal
}

export interface Orden {
  resumen: string
  /** Usage, without the common options. */
  ayuda: string
  opciones: ParseArgsOptionsConfig
  /** How many arguments without a name it takes. */
  posicionales: [minimo: number, maximo: number]
  ejecutar(contexto: Contexto): Promise<number>
}

/** A number of at least so much, or the one that stands if none is given. */
export function numero(contexto: Contexto, nombre: string, omision: number, minimo: number): number {
  const texto = contexto.texto(nombre)
  if (texto === undefined) return omision
  const valor = Number(texto)
  if (texto.trim() !== '' && Number.isFinite(valor) && valor >= minimo) return valor
  throw new ErrorDeUso(`--${nombre} debe ser un número de ${minimo} en adelante y llegó «${texto}».`)
}

/** Ends early, without failing, when it is aborted. */
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

/** What whoever waits for something to happen waits out too. */
export const esPasajero = (error: unknown): error is ErrorApi | ErrorConexion | ErrorRespuesta =>
  error instanceof ErrorConexion ||
  ((error instanceof ErrorApi || error instanceof ErrorRespuesta) && (error.status >= 500 || error.status === 429))
