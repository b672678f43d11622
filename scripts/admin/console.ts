import { createInterface } from 'node:readline/promises'
import { EngineError } from '../../server/data/citus/distribute.ts'
import { EmbeddedPostgresError } from '../../server/data/embedded/embedded.ts'
import { ArchiveError } from '../../server/platform/backup/seal.ts'
import { ConfigError } from '../../server/platform/config/config.ts'
import { explainDatabase, Problema } from '../../server/platform/errors.ts'
import { FileStoreError } from '../../server/platform/files/store.ts'
import { MasterKeysError } from '../../server/startup/masterKeys.ts'
import { MigrationError } from '../../server/startup/migrations.ts'
import type { ConsoleEnvironment, ConsoleOption } from './command.ts'
import { withDeps } from './deps.ts'
import { CommandLineError } from './error.ts'
import { parseLine, renderHelp } from './line.ts'

/**
 * Runs one command line of the console and writes to the given streams.
 * @returns the exit code: 0, 1 if the command fails, 2 if the command line is wrong
 */
export async function runLine(args: string[], env: ConsoleEnvironment, terminal: Console): Promise<number> {
  try {
    const line = parseLine(args)
    if (line) {
      const { command, opciones, json } = line
      if (command.question && !opciones.si && !(await confirm(command.question(opciones)))) return 1
      const result =
        'runSeparately' in command
          ? await command.runSeparately(env, opciones)
          : await withDeps(env, command.withFileStore === true, (deps) => command.run(deps, opciones))
      if (command.write && !json) terminal.log('%s', command.write(result as never))
      else if (command.documento && !json) terminal.log('%s', JSON.stringify(result, null, 2))
      else show(command.summarize && !json ? (result as never[]).map(command.summarize) : result, json, terminal)
      return command.hasFailed?.(result as never) ? 1 : 0
    }
    terminal.log(renderHelp())
    return 0
  } catch (error) {
    const { texto, codigo } = explain(error)
    terminal.error('%s', texto)
    return codigo
  }
}

/**
 * Asks for confirmation at a terminal.
 * @throws {CommandLineError} if standard input is not a terminal; `--si` is then required
 */
async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new CommandLineError('Falta --si: aquí no hay a quién preguntar.')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^s[ií]$/i.test((await terminal.question(`${question}\n¿Continuar? (sí/no) `)).trim())
  } finally {
    terminal.close()
  }
}

function show(result: unknown, json: boolean, terminal: Console) {
  if (json) return terminal.log('%s', JSON.stringify(result))
  if (Array.isArray(result)) return result.length > 0 ? terminal.table(result) : terminal.log('No hay ninguno.')
  for (const [key, value] of Object.entries(result as object)) terminal.log('%s', `${key.padEnd(12)} ${inWords(value)}`)
}

/** Formats a value for people; an object as a list of its members with their names. */
function inWords(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'sí' : 'no'
  if (Array.isArray(value)) return value.map(inWords).join(', ')
  if (typeof value !== 'object' || value === null) return String(value ?? '—')
  return Object.entries(value)
    .map(([member, memberValue]) => `${member} ${inWords(memberValue)}`)
    .join(', ')
}

/** Option of the console by field of the operation, for fields whose option has another name. */
const OPTION_OF_FIELD: Record<string, ConsoleOption> = { vence_en: 'vence', solapamiento_horas: 'solapamiento' }
const OPTION_OF_CODE: Record<string, ConsoleOption> = {
  comercio_desconocido: 'comercio',
  llave_desconocida: 'llave',
  llave_inactiva: 'llave',
  operador_desconocido: 'operador',
  operador_revocado: 'operador',
  repartidor_desconocido: 'repartidor',
  persona_desconocida: 'persona',
  persona_repetida: 'correo',
  membresia_desconocida: 'membresia',
}

function explain(error: unknown): { texto: string; codigo: number } {
  if (error instanceof CommandLineError) return { texto: `${error.message}\n\n${renderHelp()}`, codigo: 2 }
  if (error instanceof Problema) {
    const faults = (error.details.errores ?? []).map(({ campo, mensaje }) => {
      const [, name = ''] = campo.split('/')
      return `--${OPTION_OF_FIELD[name] ?? name}: ${mensaje}`
    })
    const option = OPTION_OF_CODE[error.codigo]
    return {
      texto: faults.length > 0 ? faults.join('\n') : `${option ? `--${option}: ` : ''}${error.message}`,
      codigo: 1,
    }
  }
  const isKnown = [
    ArchiveError,
    ConfigError,
    FileStoreError,
    MasterKeysError,
    EmbeddedPostgresError,
    MigrationError,
    EngineError,
  ].some((errorClass) => error instanceof errorClass)
  const text = isKnown ? (error as Error).message : explainDatabase(error)
  return { texto: text ?? (error instanceof Error ? (error.stack ?? error.message) : String(error)), codigo: 1 }
}
