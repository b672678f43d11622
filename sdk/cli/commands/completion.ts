import { type CliCommand, type CliCommands, EXIT_CODE, type Option, UsageError } from '../command.ts'
import { isGroup, optionsOf } from '../help.ts'
import { printLine } from '../terminal.ts'

/**
 * Position in a command line, with the words that the shell can complete there: commands, options and their values,
 * arguments.
 */
interface CompletionPosition {
  /** Words typed before this position: none, `listar`, `webhooks` or `webhooks crear`. */
  path: string
  commands: readonly (readonly [nombre: string, resumen: string])[]
  opciones: readonly (readonly [nombre: string, opcion: Option])[]
  complete: CliCommand['complete']
}

function listPositions(commands: CliCommands, before = ''): CompletionPosition[] {
  const ownPosition: CompletionPosition = {
    path: before,
    commands: Object.entries(commands).map(([name, { summary }]) => [name, summary]),
    opciones: [
      ['help', { description: 'esta ayuda' }],
      ...(before ? [] : [['version', { description: 'la versión' }] as const]),
    ],
    complete: undefined,
  }
  const childPositions = Object.entries(commands).flatMap(([name, entry]) => {
    const path = before ? `${before} ${name}` : name
    if (isGroup(entry)) return listPositions(entry.commands, path)
    return [{ path, commands: [], opciones: Object.entries(optionsOf(entry)), complete: entry.complete }]
  })
  return [ownPosition, ...childPositions]
}

const takesFile = ({ placeholder: value }: Option) => value === '<ruta>'

/** Puts a text in single quotes, in the form that bash, zsh and fish all read. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

const SCRIPT_HEADER = (instruction: string) => `# Completado de guias. ${instruction}
# Hecho con «guias completar»: al actualizar el paquete, hágalo otra vez.
`

/**
 * Joins the values of an option with spaces. Escapes `*`, so that the shell does not expand the value as a file name
 * pattern.
 */
const joinValues = ({ values = [] }: Option) => values.map((value) => value.replaceAll('*', '\\*')).join(' ')

/**
 * Writes the completion script for bash. The script uses no associative arrays and no `mapfile`, because macOS still
 * has bash 3.2.
 */
function renderBash(positions: readonly CompletionPosition[]): string {
  const groups = positions.filter(({ commands }) => commands.length > 0)
  const conValor = (accepts: (option: Option) => boolean) =>
    positions.flatMap(({ path, opciones }) =>
      opciones
        .filter(([, option]) => option.placeholder && accepts(option))
        .map(([name, option]) => ({ clave: `${path} --${name}`, option })),
    )
  const values = conValor(({ values }) => Boolean(values))
  const files = conValor(takesFile)
  const freeOptions = conValor((option) => !option.values && !takesFile(option))
  const joinKeys = (keys: { clave: string }[]) => keys.map(({ clave }) => quote(clave)).join('|')
  return `${SCRIPT_HEADER('Póngalo en ~/.bashrc:  source <(guias completar bash)')}
_guias() {
  local actual=\${COMP_WORDS[COMP_CWORD]} previa=\${COMP_WORDS[COMP_CWORD-1]} camino= palabra i
  # bash splits --estado=en into three words: --estado, = and en.
  [[ $actual == = ]] && actual=
  [[ $previa == = ]] && previa=\${COMP_WORDS[COMP_CWORD-2]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    palabra=\${COMP_WORDS[i]}
    [[ $palabra == -* ]] && break
    case "$camino\${camino:+ }$palabra" in
      ${positions.flatMap(({ path }) => (path ? [quote(path)] : [])).join('|')}) camino="$camino\${camino:+ }$palabra" ;;
      *) break ;;
    esac
  done
  COMPREPLY=()
  compopt +o default 2>/dev/null
  case "$camino $previa" in
${values.map(({ clave, option }) => `    ${quote(clave)}) _guias_lista ${quote(option.values!.join(' '))}; return ;;`).join('\n')}
    ${joinKeys(files)}) compopt -o default 2>/dev/null; return ;;
    ${joinKeys(freeOptions)}) return ;;
  esac
  if [[ $actual == -* ]]; then
    case "$camino" in
${positions.map(({ path, opciones }) => `      ${quote(path)}) COMPREPLY=($(compgen -W ${quote(opciones.map(([name]) => `--${name}`).join(' '))} -- "$actual")) ;;`).join('\n')}
    esac
    return
  fi
  case "$camino" in
${groups.map(({ path, commands }) => `    ${quote(path)}) COMPREPLY=($(compgen -W ${quote(commands.map(([name]) => name).join(' '))} -- "$actual")) ;;`).join('\n')}
${positions
  .flatMap(({ path, complete }) =>
    Array.isArray(complete)
      ? [`    ${quote(path)}) COMPREPLY=($(compgen -W ${quote(complete.join(' '))} -- "$actual")) ;;`]
      : complete
        ? [`    ${quote(path)}) compopt -o default 2>/dev/null ;;`]
        : [],
  )
  .join('\n')}
  esac
}
# Completes the last element of a list with commas.
_guias_lista() {
  local antes= palabra
  [[ $actual == *,* ]] && antes=\${actual%,*},
  while IFS= read -r palabra; do COMPREPLY+=("$antes$palabra"); done < <(compgen -W "$1" -- "\${actual##*,}")
}
complete -o default -F _guias guias
`
}

function renderZsh(positions: readonly CompletionPosition[]): string {
  // In zsh's `_arguments`, colons and brackets are syntax and must be escaped.
  const escapeSyntax = (text: string) => text.replace(/[[\]:\\]/g, '\\$&')
  const formatOption = ([name, option]: readonly [string, Option]) => {
    const valueSpec = option.values
      ? `:valor:${option.multiple ? `_sequence compadd - ${joinValues(option)}` : `(${joinValues(option)})`}`
      : `:valor:${takesFile(option) ? '_files' : ' '}`
    return quote(
      `${option.multiple ? '*' : ''}--${name}${option.placeholder ? '=' : ''}[${escapeSyntax(option.description)}]${option.placeholder ? valueSpec : ''}`,
    )
  }
  const cases = positions.map(({ path, commands, opciones, complete }) => {
    // `{:}` is an action that does nothing. Without an action, zsh would stop completing options at the first argument.
    const action = Array.isArray(complete) ? `(${complete.join(' ')})` : complete ? '_files' : '{:}'
    const zshCommand =
      commands.length > 0
        ? `lista=(${commands.map(([name, summary]) => quote(`${name}:${summary.replaceAll(':', '\\:')}`)).join(' ')})
      if [[ $PREFIX == -* ]]; then _arguments ${opciones.map(formatOption).join(' ')}; else _describe orden lista; fi`
        : `_arguments ${[...opciones.map(formatOption), quote(`*:argumento:${action}`)].join(' \\\n        ')}`
    return `    ${quote(path)})\n      ${zshCommand} ;;`
  })
  return `#compdef guias
${SCRIPT_HEADER('Póngalo en una carpeta de $fpath como _guias, o en ~/.zshrc:  source <(guias completar zsh)')}
_guias() {
  local -a lista
  local camino= palabra
  local -i i=2
  while (( i < CURRENT )); do
    palabra=$words[i]
    case "$camino\${camino:+ }$palabra" in
      ${positions.flatMap(({ path }) => (path ? [quote(path)] : [])).join('|')}) camino="$camino\${camino:+ }$palabra" ;;
      *) break ;;
    esac
    (( i++ ))
  done
  # Removes the command's name from the words, so that zsh does not count it as an argument.
  words=(guias "\${(@)words[i,-1]}")
  (( CURRENT -= i - 2 ))
  case $camino in
${cases.join('\n')}
  esac
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
if [[ $funcstack[1] == _guias ]]; then _guias "$@"; else compdef _guias guias; fi
`
}

function renderFish(positions: readonly CompletionPosition[]): string {
  const lines = positions.flatMap(({ path, commands, opciones, complete }) => {
    const where = `-n ${quote(`__guias_en ${quote(path).replaceAll("'", '"')}`)}`
    return [
      ...commands.map(([name, summary]) => `complete -c guias ${where} -f -a ${name} -d ${quote(summary)}`),
      ...opciones.map(([name, option]) => {
        const { placeholder: value, values, description: dice, multiple } = option
        const candidates = multiple ? `(__fish_append , ${joinValues(option)})` : joinValues(option)
        const valueFlags = values
          ? ` -x -a ${quote(candidates)}`
          : value === '<ruta>'
            ? ' -r -F'
            : value
              ? ' -x'
              : ' -f'
        return `complete -c guias ${where} -l ${name}${valueFlags} -d ${quote(dice)}`
      }),
      ...(Array.isArray(complete) ? [`complete -c guias ${where} -f -a ${quote(complete.join(' '))}`] : []),
      ...(complete === 'archivo' ? [`complete -c guias ${where} -F`] : []),
    ]
  })
  return `${SCRIPT_HEADER('Guárdelo:  guias completar fish > ~/.config/fish/completions/guias.fish')}
function __guias_en
    set -l palabras (commandline -opc)[2..-1]
    set -l camino
    for palabra in $palabras
        string match -q -- '-*' $palabra; and break
        set -l siguiente (string join ' ' -- $camino $palabra)
        contains -- $siguiente ${positions.flatMap(({ path }) => (path ? [quote(path)] : [])).join(' ')}; or break
        set camino $siguiente
    end
    test "$camino" = "$argv[1]"
end
complete -c guias -f
${lines.join('\n')}
`
}

const SHELLS = { bash: renderBash, zsh: renderZsh, fish: renderFish }

/**
 * Creates the command `completar`, which writes the completion of all commands.
 *
 * @param commands returns all commands; a function, because the list includes this command
 */
export const createCompletionCommand = (commands: () => CliCommands): CliCommand => ({
  summary: 'escribe el completado para su terminal: bash, zsh o fish',
  usage: ['completar bash|zsh|fish'],
  explanation: `Escribe el guion con que su terminal completa órdenes, opciones y sus valores al
pulsar TAB. Completa «guias», no «npx guias»: instale el paquete con npm -g, o
haga un alias.

  bash    source <(guias completar bash)              (en ~/.bashrc)
  zsh     source <(guias completar zsh)               (en ~/.zshrc)
  fish    guias completar fish > ~/.config/fish/completions/guias.fish`,
  options: {},
  positionals: [1, 1],
  complete: Object.keys(SHELLS),
  local: true,
  readOnly: true,
  async run({ positionals: [shell = ''] }) {
    const writeScript = Object.hasOwn(SHELLS, shell) ? SHELLS[shell as keyof typeof SHELLS] : undefined
    if (!writeScript) throw new UsageError(`No sé completar «${shell}»: elija bash, zsh o fish.`)
    printLine(writeScript(listPositions(commands())).trimEnd())
    return EXIT_CODE.ok
  },
})
