import { parseArgs } from 'node:util'
import { type CliCommand, type Options, UsageError } from './command.ts'
import { optionsOf } from './help.ts'

export type OptionValues = Record<string, string | boolean | (string | boolean)[] | undefined>

/**
 * Parses the arguments of a command.
 *
 * @param name the command's name as typed, e.g. `webhooks crear`
 * @throws UsageError with a suggestion or with the help to read
 */
export function parseArguments(name: string, command: CliCommand, args: readonly string[]) {
  const options = optionsOf(command)
  const { values, positionals } = parseWithOptions(name, options, args)
  const [min, max] = command.positionals
  if (positionals.length < min) throw new UsageError(`Falta un argumento: guias ${command.usage[0]}.`)
  if (positionals.length > max) {
    throw new UsageError(
      max === 0
        ? `Sobra «${positionals[0]}»: guias ${name} solo lleva opciones; vea guias ${name} --help.`
        : `Sobra «${positionals[max]}»: si lleva espacios, póngalo entre comillas.`,
    )
  }
  if (values.llave !== undefined) {
    throw new UsageError(
      'La llave no se pasa como argumento, que otros usuarios de la máquina pueden ver: póngala en la variable GUIAS_LLAVE, o en un archivo con --llave-archivo.',
    )
  }
  return { values: values as OptionValues, positionals }
}

function parseWithOptions(name: string, opciones: Options, args: readonly string[]) {
  // `parseArgs` would read the value of `--lng -90.5` as an option, and longitudes are nearly always negative here. The
  // value is joined to its option, as in `--lng=-90.5`.
  const joinedArgs = args.flatMap((arg, i) =>
    /^-\d/.test(arg) && args[i - 1]?.startsWith('--')
      ? []
      : /^--[^=]+$/.test(arg) && /^-\d/.test(args[i + 1] ?? '')
        ? [`${arg}=${args[i + 1]}`]
        : [arg],
  )
  const options = Object.fromEntries(
    Object.entries(opciones).map(([candidate, { placeholder: value, multiple = false }]) => [
      candidate,
      { type: value ? 'string' : 'boolean', multiple } as const,
    ]),
  )
  try {
    return parseArgs({
      args: joinedArgs,
      // `--llave` is accepted only to refuse it with an explanation, because other users of the machine can see the
      // arguments.
      options: { ...options, llave: { type: 'string' } },
      allowPositionals: true,
      strict: true,
    })
  } catch (error) {
    throw explainParseError(name, opciones, error as Error & { code?: string })
  }
}

function explainParseError(name: string, options: Options, { code, message }: Error & { code?: string }): UsageError {
  const flag = /'(?:-\w, )?(-[^' =<]*)/.exec(message)?.[1] ?? ''
  const helpHint = `Vea guias ${name} --help.`
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const parecida = findClosestWord(flag.slice(2), Object.keys(options))
    return new UsageError(`No conozco la opción ${flag}. ${parecida ? `¿Quiso decir --${parecida}? ` : ''}${helpHint}`)
  }
  const value = options[flag.slice(2)]?.placeholder
  if (value) return new UsageError(`A ${flag} le falta su valor: ${flag} ${value}. Si empieza por «-», ${flag}=….`)
  return new UsageError(`${flag} no lleva ningún valor. ${helpHint}`)
}

/**
 * Returns the word that the user probably meant: a word that starts with `word`, else the closest by Levenshtein
 * distance. The distance is at most 2 and less than the length of `word`; undefined if no word is that close.
 */
export function findClosestWord(word: string, words: readonly string[]): string | undefined {
  const [best] = words
    .map((candidate) => ({
      candidate,
      distance: candidate.startsWith(word) ? 0 : levenshteinDistance(word, candidate),
    }))
    .filter(({ distance }) => distance <= Math.min(2, word.length - 1))
    .sort((a, b) => a.distance - b.distance)
  return best?.candidate
}

/** Returns the Levenshtein distance between two words. */
function levenshteinDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      row.push(Math.min(row[j - 1]! + 1, previous[j]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    previous = row
  }
  return previous[b.length]!
}
