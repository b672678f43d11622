import { VERSION } from '@guias/sdk'
import { readAddress } from './address.ts'
import { findClosestWord, parseArguments } from './arguments.ts'
import { type CliCommand, type CliCommands, EXIT_CODE, UsageError } from './command.ts'
import { cancelar } from './commands/cancelar.ts'
import { createCompletionCommand } from './commands/completion.ts'
import { corregir } from './commands/corregir.ts'
import { crear } from './commands/crear.ts'
import { devolver, reintentar } from './commands/decidir.ts'
import { disparar } from './commands/disparar.ts'
import { escuchar } from './commands/escuchar.ts'
import { etiquetas } from './commands/etiquetas.ts'
import { listar } from './commands/listar.ts'
import { lote } from './commands/lote.ts'
import { prueba } from './commands/prueba.ts'
import { rastrear } from './commands/rastrear.ts'
import { reenviarSolicitud } from './commands/reenviarSolicitud.ts'
import { ubicar } from './commands/ubicar.ts'
import { ver } from './commands/ver.ts'
import { webhooks } from './commands/webhooks.ts'
import { createContext } from './context.ts'
import { type RunSettings, reportError } from './errors.ts'
import { isGroup, renderCommandHelp, renderGroupHelp, renderProgramHelp } from './help.ts'
import { notify, printLine, setOnPipeClosed } from './terminal.ts'

const COMMANDS: CliCommands = {
  crear,
  lote,
  listar,
  ver,
  ubicar,
  'reenviar-solicitud': reenviarSolicitud,
  corregir,
  reintentar,
  devolver,
  cancelar,
  etiquetas,
  prueba,
  rastrear,
  webhooks,
  escuchar,
  disparar,
  completar: createCompletionCommand(() => COMMANDS),
}

async function principal(args: string[], runSettings: RunSettings): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined) {
    notify(renderProgramHelp(COMMANDS))
    return EXIT_CODE.usage
  }
  if (name === '-h' || name === '--help' || name === '--version') {
    printLine(name === '--version' ? VERSION : renderProgramHelp(COMMANDS))
    return EXIT_CODE.ok
  }
  const entry = findEntry(COMMANDS, name, '')
  if (!isGroup(entry)) return runCommand(name, entry, rest, runSettings)
  const [second, ...subcommandArgs] = rest
  if (second === undefined || second === '-h' || second === '--help') {
    const groupHelp = renderGroupHelp(name, entry)
    if (second) printLine(groupHelp)
    else notify(groupHelp)
    return second ? EXIT_CODE.ok : EXIT_CODE.usage
  }
  return runCommand(`${name} ${second}`, findEntry(entry.commands, second, `${name} `), subcommandArgs, runSettings)
}

function findEntry<T>(entries: Readonly<Record<string, T>>, name: string, before: string): T {
  const entry = Object.hasOwn(entries, name) ? entries[name] : undefined
  if (entry) return entry
  if (name.startsWith('-'))
    throw new UsageError(`Primero va la orden, y después sus opciones: guias ${before}<orden> ${name}.`)
  const names = Object.keys(entries)
  const parecida = findClosestWord(name, names)
  throw new UsageError(
    `No conozco la orden «${before}${name}». ${parecida ? `¿Quiso decir «guias ${before}${parecida}»?` : `Las que hay: ${names.join(', ')}.`}`,
  )
}

async function runCommand(
  name: string,
  command: CliCommand,
  args: string[],
  runSettings: RunSettings,
): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    printLine(renderCommandHelp(command))
    return EXIT_CODE.ok
  }
  const { values, positionals } = parseArguments(name, command, args)
  runSettings.direccion = readAddress(values)
  runSettings.givenOptions = Object.keys(command.options).filter((option) => values[option] !== undefined)
  if (command.readOnly) setOnPipeClosed(() => process.exit(EXIT_CODE.ok))
  return command.run(createContext(values, positionals, runSettings.givenOptions))
}

setOnPipeClosed(() => {})
const args = process.argv.slice(2)
const runSettings: RunSettings = { json: args.includes('--json'), direccion: undefined, givenOptions: [] }
process.exitCode = await principal(args, runSettings).catch((error: unknown) => reportError(error, runSettings))
