import { DE_CONSOLA } from '../../server/domain/bitacora/bitacora.ts'
import type { DepsDeOperacion } from '../../server/domain/deps.ts'

/** Names of the options with a value, as typed after `--`. */
export const OPCIONES = [
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
export type OpcionDeConsola = (typeof OPCIONES)[number] | 'si'
export type OpcionesDeConsola = Partial<Record<OpcionDeConsola, string>>

/** Environment variables of the console. */
export type Entorno = Readonly<Record<string, string | undefined>>

/** Command of the console: its options and its function. */
export interface Comando {
  exige: readonly OpcionDeConsola[]
  admite?: readonly OpcionDeConsola[]
  /**
   * Option whose value may also be a positional argument: `llaves revocar llave_…` equals `llaves revocar --llave
   * llave_…`.
   */
  objeto?: OpcionDeConsola
  ejecutar: (deps: DepsDeOperacion, opciones: OpcionesDeConsola) => Promise<unknown>
  /** Question in Spanish that the operator must confirm before the command runs. `--si` skips it. */
  pregunta?: (opciones: OpcionesDeConsola) => string
  /** Opens the file storage (local folder or S3) for the command. */
  conArchivos?: true
  /** Prints the result as indented JSON even without `--json`. */
  documento?: true
  /** Returns true if the result reports a failure; the exit code is then 1. */
  falla?: (resultado: never) => boolean
  /** Returns the result as the lines of the terminal. */
  escribir?: (resultado: never) => string
  /** Returns the columns of a row for the table on the terminal. Undefined shows all members. */
  resumir?: (fila: never) => object
}

/** Command that opens the database itself, or needs none. */
export interface ComandoAparte extends Omit<Comando, 'ejecutar' | 'conArchivos'> {
  aparte: (env: Entorno, opciones: OpcionesDeConsola) => Promise<unknown>
}

/**
 * Request context of the console, which acts as an operator with all scopes. Commands call the handlers of the
 * operations with this context, so that console and API cannot differ.
 */
export const CONTEXTO_DE_CONSOLA = {
  path: undefined,
  query: undefined,
  body: undefined,
  ...DE_CONSOLA,
  cookie: '',
  agente: '',
  headers: undefined,
  soloCabeceras: false,
  acepta: (tipos: string[]) => tipos[0]!,
  reenviada: () => false,
  alAbandonar: () => new AbortController().signal,
}

/** Reads all pages of a list. */
export async function todas<Dato>(
  listar: (query: { limite: number; cursor?: string }) => Promise<{ body: unknown }>,
): Promise<Dato[]> {
  const datos: Dato[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { body } = await listar({ limite: 100, ...(cursor ? { cursor } : {}) })
    const leida = body as { datos: Dato[]; cursor_siguiente: string | null }
    datos.push(...leida.datos)
    cursor = leida.cursor_siguiente
  }
  return datos
}
