import type { Guias } from '@guias/sdk'

/** The error of an order that is asked for wrongly: told in one line, with the remedy. */
export class ErrorDeUso extends Error {}

/** The exit codes of the program, for scripts; each `--help` says the same. */
export const SALIDA = { bien: 0, rechazo: 1, uso: 2, interrumpida: 130 } as const

/** An option of an order: how it is read, its help and its completion come from here. */
export interface Opcion {
  /** What stands for its value in the help (`<ruta>` completes files); without it the option is a switch. */
  valor?: string
  dice: string
  /** The words that its value may be. */
  valores?: readonly string[]
  /** Whether it may be given several times, or once with commas. */
  varias?: boolean
}
export type Opciones = Readonly<Record<string, Opcion>>

export interface Contexto {
  /** Makes the client, only when it is asked for: some orders have to look at their arguments first. */
  api(): Guias
  /** A digest of key and address, which says whose an order is: one merchant's place in the feed isn't another's. */
  cuenta(): string
  posicionales: string[]
  /** The order's own options that were given. */
  dadas: readonly string[]
  /** The text of an option, if it was given. What isn't of the vocabulary `T`, the service refuses in its own words. */
  texto<T extends string = string>(nombre: string): T | undefined
  /** The texts of an option that may be given several times; none is undefined. */
  textos<T extends string = string>(nombre: string): T[] | undefined
  si(nombre: string): boolean
  json: boolean
  /** What an error says, in the words of this program. */
  decirError(error: unknown): string
  /** The signal that Ctrl-C aborts. */
  signal: AbortSignal
}

export interface Orden {
  resumen: string
  /** The ways to ask for it, without `guias`. */
  uso: readonly string[]
  explica: string
  opciones: Opciones
  /** How many arguments without a name it takes. */
  posicionales: [minimo: number, maximo: number]
  /** The words that its argument may be, or that it is a file. */
  completa?: readonly string[] | 'archivo'
  ejemplos?: readonly string[]
  /** Whether it only shows: who closes the pipe (`| head`) has seen enough, and it ends. Others finish what they do. */
  muestra?: boolean
  /** Whether it speaks to nobody, and so takes no address and no key. */
  local?: boolean
  ejecutar(contexto: Contexto): Promise<number>
}

/** Orders under one word: `guias webhooks listar`. */
export interface Grupo {
  resumen: string
  ordenes: Readonly<Record<string, Orden>>
}

export type Ordenes = Readonly<Record<string, Orden | Grupo>>

/** Reads a numeric option: at least `minimo`, and `omision` if it is not given. */
export function numero(contexto: Contexto, nombre: string, omision: number, minimo: number): number {
  const texto = contexto.texto(nombre)
  if (texto === undefined) return omision
  const valor = Number(texto)
  if (texto.trim() !== '' && Number.isFinite(valor) && valor >= minimo) return valor
  throw new ErrorDeUso(`--${nombre} debe ser un número de ${minimo} en adelante y llegó «${texto}».`)
}

/** Reads a whole number, as {@link numero}. */
export function entero(contexto: Contexto, nombre: string, omision: number, minimo: number): number {
  const valor = numero(contexto, nombre, omision, minimo)
  if (Number.isInteger(valor)) return valor
  throw new ErrorDeUso(`--${nombre} debe ser un número entero y llegó «${contexto.texto(nombre)}».`)
}

/** An instant, of which a date alone is the beginning of that day here and not in Greenwich. */
export function instante(nombre: string, texto: string, tambien = ''): string {
  const fecha = new Date(/^\d{4}-\d\d-\d\d$/.test(texto) ? `${texto}T00:00` : texto)
  if (!Number.isNaN(fecha.getTime())) return fecha.toISOString()
  throw new ErrorDeUso(
    `--${nombre} debe ser ${tambien}una fecha como 2026-11-20 o 2026-11-20T15:00:00Z y llegó «${texto}».`,
  )
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
