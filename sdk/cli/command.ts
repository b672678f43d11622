import type { Guias } from '@guias/sdk'

/** Error of a wrong command line. The message is one line and includes the remedy. */
export class UsageError extends Error {}

/** Exit codes of the program, for scripts. `--help` of every command lists the same codes. */
export const EXIT_CODE = { ok: 0, refused: 1, usage: 2, interrupted: 130 } as const

/** Option of a command. Parsing, help and completion use this description. */
export interface Option {
  /**
   * Placeholder of the value in the help; `<ruta>` completes file names. Without a placeholder, the option is a switch.
   */
  placeholder?: string
  description: string
  /** Values that completion offers. */
  values?: readonly string[]
  /** True if the option may be repeated, or given once with values separated by commas. */
  multiple?: boolean
}
export type Options = Readonly<Record<string, Option>>

export interface Context {
  /** Creates the client on demand, because some commands check their arguments first. */
  api(): Guias
  /** Digest of key and address, 16 hexadecimal digits. Separates the stored cursors of different merchants. */
  cuenta(): string
  positionals: string[]
  /** Names of the command's own options that were given. */
  givenOptions: readonly string[]
  /**
   * Text of an option; undefined if not given. Values outside the vocabulary `T` are not refused here; the service
   * refuses them with its own message.
   */
  texto<T extends string = string>(name: string): T | undefined
  /** Texts of an option that may be repeated, split at commas; undefined if not given. */
  texts<T extends string = string>(name: string): T[] | undefined
  isSet(name: string): boolean
  json: boolean
  /** Returns the message of an error in this program's words. */
  describeError(error: unknown): string
  /** Returns the reason of a temporary error, for commands that try again. */
  whyAway(error: unknown): string
  /** Signal that Ctrl-C aborts. */
  signal: AbortSignal
}

/** Command of the program: its help, its options and the function that runs it. */
export interface CliCommand {
  summary: string
  /** Usage lines of the command, without the word `guias`. */
  usage: readonly string[]
  explanation: string
  options: Options
  /** Minimum and maximum number of positional arguments. */
  positionals: [minimo: number, maximo: number]
  /** Values that completion offers for the arguments, or `archivo` for file names. */
  complete?: readonly string[] | 'archivo'
  /** Command lines. Days of the year 0001 are relative: `0001-01-04` is in 3 days. */
  examples?: readonly string[]
  /**
   * True if the command only shows data. When the reader closes the pipe (`| head`), the process then ends; other
   * commands finish their work.
   */
  readOnly?: boolean
  /** True if the command does not call the service, and so takes no address and no key. */
  local?: boolean
  run(context: Context): Promise<number>
}

/** Group of commands with a common first word, e.g. `guias webhooks listar`. */
export interface CommandGroup {
  summary: string
  commands: Readonly<Record<string, CliCommand>>
}

export type CliCommands = Readonly<Record<string, CliCommand | CommandGroup>>

/**
 * Reads a numeric option: at least `min`, and `defaultValue` if not given.
 *
 * @throws UsageError if the value is not a number or is too small
 */
export function numero(context: Context, name: string, defaultValue: number, min: number): number {
  const text = context.texto(name)
  if (text === undefined) return defaultValue
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value) && value >= min) return value
  throw new UsageError(`--${name} debe ser un número de ${min} en adelante y llegó «${text}».`)
}

/**
 * Reads an integer option, with the rules of {@link numero}.
 *
 * @throws UsageError if the value is not an integer
 */
export function readIntegerOption(context: Context, name: string, defaultValue: number, min: number): number {
  const value = numero(context, name, defaultValue, min)
  if (Number.isInteger(value)) return value
  throw new UsageError(`--${name} debe ser un número entero y llegó «${context.texto(name)}».`)
}

/**
 * Reads an instant and returns it in ISO 8601, UTC. A date alone means the start of that day in the local time zone.
 *
 * @param alsoAccepted other accepted words, for the error message
 * @throws UsageError if the text is not a date
 */
export function readInstantOption(name: string, text: string, alsoAccepted = ''): string {
  const date = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text)
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw new UsageError(
    `--${name} debe ser ${alsoAccepted}una fecha, AAAA-MM-DD o AAAA-MM-DDThh:mm:ssZ, y llegó «${text}».`,
  )
}

/** Waits `ms` milliseconds. Resolves early, without an error, when `signal` is aborted. */
export function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((listo) => {
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      listo()
    }
    const timer = setTimeout(finish, ms)
    signal.addEventListener('abort', finish)
    if (signal.aborted) finish()
  })
}
