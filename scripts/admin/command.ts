import { CONSOLE_ACTOR } from '../../server/domain/bitacora/bitacora.ts'
import type { OperacionDeps } from '../../server/domain/deps.ts'

/** Names of the options with a value, as typed after `--`. */
export const OPTION_NAMES = [
  'nombre',
  'pais',
  'estricto',
  'ritmos',
  'evidencia',
  'politica-de-intentos',
  'comercio',
  'operador',
  'modo',
  'alcances',
  'vence',
  'redes',
  'llave',
  'solapamiento',
  'telefono',
  'guia',
  'repartidor',
  'quien',
  'accion',
  'sobre',
  'desde',
  'hasta',
  'carpeta',
  'para',
  'correo',
  'persona',
  'membresia',
  'clave',
  'archivo',
] as const
/** Option of the console. All take a value except `si`. */
export type ConsoleOption = (typeof OPTION_NAMES)[number] | 'si'
export type ConsoleOptions = Partial<Record<ConsoleOption, string>>

/** Environment variables of the console. */
export type ConsoleEnvironment = Readonly<Record<string, string | undefined>>

/** Command of the console: its options and its function. */
export interface Command {
  requires: readonly ConsoleOption[]
  allows?: readonly ConsoleOption[]
  /**
   * Option whose value may also be a positional argument: `llaves revocar llave_…` equals `llaves revocar --llave
   * llave_…`.
   */
  object?: ConsoleOption
  run: (deps: OperacionDeps, options: ConsoleOptions) => Promise<unknown>
  /** Question in Spanish that the operator must confirm before the command runs. `--si` skips it. */
  question?: (options: ConsoleOptions) => string
  /** Opens the file storage (local folder or S3) for the command. */
  withFileStore?: true
  /** Prints the result as indented JSON even without `--json`. */
  documento?: true
  /** Returns true if the result reports a failure; the exit code is then 1. */
  hasFailed?: (result: never) => boolean
  /** Returns the result as the lines of the terminal. */
  write?: (result: never) => string
  /** Returns the columns of a row for the table on the terminal. Undefined shows all members. */
  summarize?: (row: never) => object
}

/** Command that opens the database itself, or needs none. */
export interface SeparateCommand extends Omit<Command, 'run' | 'withFileStore'> {
  runSeparately: (env: ConsoleEnvironment, options: ConsoleOptions) => Promise<unknown>
}

/**
 * Request context of the console, which acts as an operator with all scopes. Commands call the handlers of the
 * operations with this context, so that console and API cannot differ.
 */
export const CONSOLE_CONTEXT = {
  path: undefined,
  query: undefined,
  body: undefined,
  ...CONSOLE_ACTOR,
  cookie: '',
  userAgent: '',
  headers: undefined,
  headersOnly: false,
  accepts: (types: string[]) => types[0]!,
  isForwarded: () => false,
  abandonSignal: () => new AbortController().signal,
}

/** Reads all pages of a list. */
export async function todas<Item>(
  listPage: (query: { limite: number; cursor?: string }) => Promise<{ body: unknown }>,
): Promise<Item[]> {
  const datos: Item[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { body } = await listPage({ limite: 100, ...(cursor ? { cursor } : {}) })
    const page = body as { datos: Item[]; cursor_siguiente: string | null }
    datos.push(...page.datos)
    cursor = page.cursor_siguiente
  }
  return datos
}
