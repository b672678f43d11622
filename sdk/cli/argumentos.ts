import { parseArgs } from 'node:util'
import { opcionesDe } from './ayuda.ts'
import { ErrorDeUso, type Opciones, type Orden } from './orden.ts'

export type Valores = Record<string, string | boolean | (string | boolean)[] | undefined>

/**
 * Parses the arguments of a command.
 *
 * @param nombre the command's name as typed, e.g. `webhooks crear`
 * @throws ErrorDeUso with a suggestion or with the help to read
 */
export function leerArgumentos(nombre: string, orden: Orden, args: readonly string[]) {
  const opciones = opcionesDe(orden)
  const { values, positionals } = interpretar(nombre, opciones, args)
  const [minimo, maximo] = orden.posicionales
  if (positionals.length < minimo) throw new ErrorDeUso(`Falta un argumento: guias ${orden.uso[0]}.`)
  if (positionals.length > maximo) {
    throw new ErrorDeUso(
      maximo === 0
        ? `Sobra «${positionals[0]}»: guias ${nombre} solo lleva opciones; vea guias ${nombre} --help.`
        : `Sobra «${positionals[maximo]}»: si lleva espacios, póngalo entre comillas.`,
    )
  }
  if (values.llave !== undefined) {
    throw new ErrorDeUso(
      'La llave no se pasa como argumento, que otros usuarios de la máquina pueden ver: póngala en la variable GUIAS_LLAVE, o en un archivo con --llave-archivo.',
    )
  }
  return { valores: values as Valores, posicionales: positionals }
}

function interpretar(nombre: string, opciones: Opciones, args: readonly string[]) {
  // `parseArgs` would read the value of `--lng -90.5` as an option, and longitudes are nearly always negative here. The
  // value is joined to its option, as in `--lng=-90.5`.
  const unidos = args.flatMap((arg, i) =>
    /^-\d/.test(arg) && args[i - 1]?.startsWith('--')
      ? []
      : /^--[^=]+$/.test(arg) && /^-\d/.test(args[i + 1] ?? '')
        ? [`${arg}=${args[i + 1]}`]
        : [arg],
  )
  const options = Object.fromEntries(
    Object.entries(opciones).map(([una, { valor, varias = false }]) => [
      una,
      { type: valor ? 'string' : 'boolean', multiple: varias } as const,
    ]),
  )
  try {
    return parseArgs({
      args: unidos,
      // `--llave` is accepted only to refuse it with an explanation, because other users of the machine can see the
      // arguments.
      options: { ...options, llave: { type: 'string' } },
      allowPositionals: true,
      strict: true,
    })
  } catch (error) {
    throw explicar(nombre, opciones, error as Error & { code?: string })
  }
}

function explicar(nombre: string, opciones: Opciones, { code, message }: Error & { code?: string }): ErrorDeUso {
  const cual = /'(?:-\w, )?(-[^' =<]*)/.exec(message)?.[1] ?? ''
  const ayuda = `Vea guias ${nombre} --help.`
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const parecida = masParecida(cual.slice(2), Object.keys(opciones))
    return new ErrorDeUso(`No conozco la opción ${cual}. ${parecida ? `¿Quiso decir --${parecida}? ` : ''}${ayuda}`)
  }
  const valor = opciones[cual.slice(2)]?.valor
  if (valor) return new ErrorDeUso(`A ${cual} le falta su valor: ${cual} ${valor}. Si empieza por «-», ${cual}=….`)
  return new ErrorDeUso(`${cual} no lleva ningún valor. ${ayuda}`)
}

/**
 * Returns the word that the user probably meant: a word that starts with `palabra`, else the closest by Levenshtein
 * distance. The distance is at most 2 and less than the length of `palabra`; undefined if no word is that close.
 */
export function masParecida(palabra: string, palabras: readonly string[]): string | undefined {
  const [mejor] = palabras
    .map((una) => ({ una, lejos: una.startsWith(palabra) ? 0 : distancia(palabra, una) }))
    .filter(({ lejos }) => lejos <= Math.min(2, palabra.length - 1))
    .sort((a, b) => a.lejos - b.lejos)
  return mejor?.una
}

/** Returns the Levenshtein distance between two words. */
function distancia(a: string, b: string): number {
  let anterior = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const fila = [i]
    for (let j = 1; j <= b.length; j++) {
      fila.push(Math.min(fila[j - 1]! + 1, anterior[j]! + 1, anterior[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    anterior = fila
  }
  return anterior[b.length]!
}
