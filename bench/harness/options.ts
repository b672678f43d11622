import { parseArgs } from 'node:util'

/** Options of the command line. */
export interface BenchOptions {
  /** Keys of the measurements to run. Empty runs all except those that must be requested. */
  selectedKeys: readonly string[]
  rounds: number
  /** Duration of one cell, in seconds. A cell is one case on one side in one round. */
  seconds: number
  /** Rows of the large table. */
  guias: number
  /** Minutes at full load for the measurements of memory; 0 skips them. */
  memoryMinutes: number
  /** Folder for the server's CPU profiles. */
  profileFolder: string | undefined
  /**
   * Runs only the main measurements, for a short time. The run fails if a figure stays below half of its mark on a
   * quiet machine.
   */
  isShort: boolean
  /** Commit to compare with. Undefined measures against the references. */
  contra: string | undefined
}

/** Error in the command line. Its message is in Spanish, for the console. */
export class OptionsError extends Error {}

function parseArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        solo: { type: 'string', default: '' },
        rondas: { type: 'string', default: '5' },
        segundos: { type: 'string', default: '3' },
        guias: { type: 'string', default: '1000000' },
        memoria: { type: 'string', default: '0' },
        perfil: { type: 'string' },
        corto: { type: 'boolean', default: false },
        contra: { type: 'string' },
      },
    })
  } catch (error) {
    throw new OptionsError(`${(error as Error).message}\nVea npm run bench -- --help.`)
  }
}

/** Options that `--corto` sets. Options given on the command line override them. */
const SHORT_RUN_ARGS = [
  '--solo',
  'crear32,comercios32,fastify32,lote,detalle,webhooks,latencia,arranque',
  '--rondas',
  '3',
  '--segundos',
  '1',
  '--guias',
  '50000',
]

/**
 * Reads the command line. Returns undefined for `--help`.
 * @throws {ErrorDeOpciones} if an option or a measurement is unknown or a number is invalid
 */
export function readOptions(
  args: readonly string[],
  { medidas, ofComparison }: { medidas: readonly string[]; ofComparison: readonly string[] },
): BenchOptions | undefined {
  const { values } = parseArguments(args.includes('--corto') ? [...SHORT_RUN_ARGS, ...args] : args)
  if (values.help) return undefined
  const { perfil: profileFolder, corto: isShort, contra } = values
  if (isShort && contra !== undefined) throw new OptionsError('--corto y --contra no van juntas.')
  const readInteger = (name: 'rondas' | 'segundos' | 'guias' | 'memoria', minimum: number) => {
    const value = Number(values[name])
    if (!Number.isInteger(value) || value < minimum)
      throw new OptionsError(`--${name} debe ser un entero, ${minimum} o más.`)
    return value
  }
  const selectedKeys = values.solo.split(',').filter((key) => key !== '')
  const keys = contra === undefined ? medidas : ofComparison
  const foreign = selectedKeys.find((key) => !keys.includes(key))
  if (foreign) throw new OptionsError(`No hay ninguna medida «${foreign}». Las medidas son: ${keys.join(', ')}.`)
  return {
    selectedKeys,
    profileFolder,
    isShort,
    contra,
    rounds: readInteger('rondas', 1),
    seconds: readInteger('segundos', 1),
    guias: readInteger('guias', 2_000),
    memoryMinutes: readInteger('memoria', 0),
  }
}

/** Returns the help text, in Spanish. */
export const helpText = (
  measures: readonly { clave: string; descripcion: string }[],
  ofComparison: readonly string[],
) => `npm run bench -- [opciones]

Mide el servicio y sus referencias intercalados, en la misma corrida y sobre la misma base, y compara sus razones con las
marcas del diseño. Trae su propio PostgreSQL (fsync y synchronous_commit activos); pgbench debe estar en el PATH.

  --solo a,b      solo estas medidas
  --rondas N      rondas intercaladas por medida (5)
  --segundos S    segundos por celda (3)
  --guias N       guías de la tabla grande (1000000)
  --memoria MIN   además, memoria tras MIN minutos a plena carga (no se mide)
  --perfil DIR    deja allí perfiles de CPU del servidor (.cpuprofile); falsea los tiempos
  --corto         las ocho medidas principales en unos dos minutos; falla si una queda siempre bajo media marca con la máquina libre
  --contra COMMIT compara este código con el de ese commit, por turnos y con el mismo generador de carga, y lista lo que perdió más
                  allá del ruido; --solo elige entre ${ofComparison.join(', ')}
  --help          esta ayuda

Medidas:
${measures.map(({ clave, descripcion }) => `  ${clave.padEnd(16)}${descripcion}`).join('\n')}

Escribe bench/results/<fecha>.md con sus gráficas y, si corrió todo, bench/RESULTS.md.
`
