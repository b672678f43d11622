import type { Bench } from '../harness/environment.ts'
import type { Measurement } from '../harness/report.ts'
import { interleave, summarize } from '../harness/rounds.ts'
import { buildCreateLoad, createMeter, warmUp } from './create.ts'

/** Seconds per cell. Cells are short and alternate, so that a slow moment of the machine affects both sides. */
const CELL_SECONDS = 0.5

/**
 * Compares the CPU time per creation of the same app with and without the middlewares of express-openapi-validator. A
 * timer around them shows only a third of the cost, because their promises and garbage cost CPU elsewhere.
 */
const measure = (bench: Bench) =>
  bench.withDatabase(async (base) => {
    const { rounds, seconds: segundos } = bench.options
    const comercios = await base.createComercios(1)
    const prepareMeter = async (variant: 'validated' | 'unvalidated') => {
      const program = await base.program('server.ts', [variant])
      const load = buildCreateLoad(program.url, comercios, 32, CELL_SECONDS)
      await warmUp(bench, base, { ...load, segundos })
      return createMeter(bench, program, load)
    }
    const validated = await prepareMeter('validated')
    const unvalidated = await prepareMeter('unvalidated')
    const cellsPerRound = Math.ceil(segundos / CELL_SECONDS)
    await interleave(rounds * cellsPerRound, { validated: validated.measure, unvalidated: unvalidated.measure })

    const cpuByRound = ({ loads }: typeof validated, part: 'servicio' | 'PostgreSQL') =>
      Array.from(
        { length: rounds },
        (_, i) => summarize(loads.slice(i * cellsPerRound, (i + 1) * cellsPerRound).map(({ cpu }) => cpu[part])).median,
      )
    const [node, unvalidatedCpu, postgres] = [
      cpuByRound(validated, 'servicio'),
      cpuByRound(unvalidated, 'servicio'),
      cpuByRound(validated, 'PostgreSQL'),
    ]
    return {
      rows: [
        {
          measurement: 'validación por contrato: parte del tiempo de CPU de una creación, Node y PostgreSQL',
          unit: '%',
          program: summarize(node.map((cpu, i) => ((cpu - unvalidatedCpu[i]!) / (cpu + postgres[i]!)) * 100)),
          target: { comparison: '≤' as const, value: 10, isAbsolute: true },
        },
      ],
      notas: [validated.nota('con validación'), unvalidated.nota('sin validación')],
    }
  })

export const validation: Measurement[] = [
  { clave: 'validacion', descripcion: 'parte de la creación que cuesta la validación por contrato', measure },
]
