import { VERSION } from '@guias/sdk'
import { withRelativeDays } from '../src/generated/relativeDays.ts'
import type { CliCommand, CliCommands, CommandGroup, Options } from './command.ts'

/** Width of the help text in columns. Every terminal has at least 80. */
export const HELP_WIDTH = 80

export const isGroup = (entry: CliCommand | CommandGroup): entry is CommandGroup => 'commands' in entry

/** Options of every command that calls the service. */
const COMMON_OPTIONS: Options = {
  url: {
    placeholder: '<url>',
    description: 'dirección del servicio; o la variable GUIAS_URL; si no, con una llave de prueba, la de esta máquina',
  },
  'llave-archivo': { placeholder: '<ruta>', description: 'archivo con su llave; o la variable GUIAS_LLAVE' },
  json: { description: 'escribe JSON, un objeto por línea' },
}
const HELP_OPTION: Options = { help: { description: 'esta ayuda' } }

/**
 * Returns all options of a command: its own, then the common options, then `--help`. Local commands have no common
 * options.
 */
export const optionsOf = (command: CliCommand): Options => ({
  ...command.options,
  ...(command.local ? {} : COMMON_OPTIONS),
  ...HELP_OPTION,
})

const EXIT_CODES_TEXT = `Termina con 0 si todo fue bien, 1 si el servicio rechazó algo, falló o no
contestó, 2 si la orden o sus datos no valen, y 130 si se interrumpe (Ctrl-C).`

/** Wraps a text at its spaces, so that each line has at most `width` characters. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line ? `${line} ${word}` : word
  }
  return [...lines, line]
}

/** Formats names and descriptions in two columns. A name that is too long has a line of its own. */
function formatColumns(rows: readonly (readonly [name: string, description: string])[]): string {
  const indent = Math.min(30, Math.max(...rows.map(([name]) => name.length)) + 4)
  return rows
    .flatMap(([name, description]) => {
      const [firstLine = '', ...otherLines] = wrap(description, HELP_WIDTH - indent)
      const fits = name.length + 4 <= indent
      const head = fits
        ? [`  ${name.padEnd(indent - 2)}${firstLine}`]
        : [`  ${name}`, `${' '.repeat(indent)}${firstLine}`]
      return [...head, ...otherLines.map((line) => ' '.repeat(indent) + line)]
    })
    .join('\n')
}

const formatOptions = (options: Options) =>
  formatColumns(
    Object.entries(options).map(([name, { placeholder: value, description }]) => [
      `${name === 'help' ? '-h, ' : ''}--${name}${value ? ` ${value}` : ''}`,
      description,
    ]),
  )

const formatUsage = (usage: readonly string[]) =>
  usage.map((shape, i) => `${i === 0 ? 'Uso: ' : '     '}guias ${shape}`).join('\n')

/** Wraps each paragraph to {@link HELP_WIDTH} columns. A paragraph with indented lines stays unchanged. */
const wrapParagraphs = (text: string) =>
  text
    .split('\n\n')
    .map((item) =>
      /\n /.test(item) || item.startsWith(' ') ? item : wrap(item.replaceAll('\n', ' '), HELP_WIDTH).join('\n'),
    )
    .join('\n\n')

/** Returns the present day by the machine's time zone, such as «2026-11-25». */
function today(): string {
  const now = new Date()
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, '2026-11-25'.length)
}

/** Returns the help of one command. Its examples name days near today. */
export function renderCommandHelp(command: CliCommand): string {
  const { usage, explanation, options, examples = [], local } = command
  return [
    formatUsage(usage),
    wrapParagraphs(explanation),
    ...(Object.keys(options).length > 0 ? [`Opciones:\n${formatOptions(options)}`] : []),
    `Opciones comunes:\n${formatOptions(local ? HELP_OPTION : { ...COMMON_OPTIONS, ...HELP_OPTION })}`,
    ...(examples.length > 0
      ? [`Ejemplos:\n${examples.map((item) => `  guias ${withRelativeDays(item, today())}`).join('\n')}`]
      : []),
    EXIT_CODES_TEXT,
  ].join('\n\n')
}

const formatCommands = (commands: CliCommands) =>
  formatColumns(Object.entries(commands).map(([name, { summary }]) => [name, summary]))

/** Returns the help of a group: its description and its commands. */
export const renderGroupHelp = (name: string, { summary, commands }: CommandGroup) =>
  `Uso: guias ${name} <orden> [opciones]

${summary[0]?.toUpperCase()}${summary.slice(1)}.

Órdenes:
${formatCommands(commands)}

«guias ${name} <orden> --help» explica cada una.

${EXIT_CODES_TEXT}`

/** Returns the help of the whole program. */
export const renderProgramHelp = (commands: CliCommands) => `guias ${VERSION}: guías de envío desde la terminal

Uso: guias <orden> [opciones]

Órdenes:
${formatCommands(commands)}

«guias <orden> --help» explica cada una. «guias --version» da la versión.

Opciones comunes:
${formatOptions({ ...COMMON_OPTIONS, ...HELP_OPTION })}

${EXIT_CODES_TEXT}`
