/** Entry point of `npm run bench`: measures the service against its references, in interleaved rounds. See `--help`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { cleanUpAll } from './harness/cleanup.ts'
import { type Bench, openBench } from './harness/environment.ts'
import { formatNumber, miles } from './harness/number.ts'
import { type BenchOptions, helpText, OptionsError, readOptions } from './harness/options.ts'
import { PGBENCH_MISSING } from './harness/pgbench.ts'
import { type Measurement, type MeasurementResult, readConditions, renderReportTable } from './harness/report.ts'
import { renderChart } from './harness/svg.ts'
import { measureWithVerdict } from './harness/verdict.ts'
import { CASES_OF_COMPARISON, compareWithCommit } from './measurements/against.ts'
import { loteMeasurements } from './measurements/batch.ts'
import { creationMeasurements } from './measurements/create.ts'
import { eventLoopMeasurements } from './measurements/eventLoop.ts'
import { growthMeasurements } from './measurements/growth.ts'
import { limitMeasurements } from './measurements/limits.ts'
import { nodeMeasurements } from './measurements/nodes.ts'
import { processMeasurements } from './measurements/process.ts'
import { reading } from './measurements/read.ts'
import { validation } from './measurements/validation.ts'
import { webhookMeasurements } from './measurements/webhooks.ts'

const MEASUREMENTS: readonly Measurement[] = [
  ...creationMeasurements,
  ...loteMeasurements,
  ...reading,
  ...growthMeasurements,
  ...validation,
  ...webhookMeasurements,
  ...limitMeasurements,
  ...eventLoopMeasurements,
  ...processMeasurements,
  ...nodeMeasurements,
]

/** Load average before a run above which the report marks the run as noisy. */
const MIN_QUIET_SHARE = 0.5

const printLine = (text: string) => process.stderr.write(`${text}\n`)

function chooseMeasurements(options: BenchOptions): readonly Measurement[] {
  const { contra, selectedKeys } = options
  if (contra !== undefined)
    return [
      {
        clave: 'contra',
        descripcion: `este código contra el de ${contra}`,
        measure: (bench) => compareWithCommit(bench, contra),
      },
    ]
  return MEASUREMENTS.filter(({ clave, separate }) =>
    selectedKeys.length > 0 ? selectedKeys.includes(clave) : !separate?.(options),
  )
}

async function runBench(options: BenchOptions) {
  const startedAt = new Date()
  const [before = 0] = loadavg()
  const bench = await openBench(options)
  if (!bench.pgbench) printLine(PGBENCH_MISSING)
  const measures: { measurement: Measurement; resultado: MeasurementResult }[] = []
  const failedFigures: string[] = []
  for (const measurement of chooseMeasurements(options)) {
    printLine(`${measurement.clave}: ${measurement.descripcion}…`)
    const verdict = options.isShort
      ? await measureWithVerdict(measurement, bench)
      : { resultado: await measurement.measure(bench) }
    const { resultado } = verdict
    measures.push({ measurement, resultado })
    printLine(
      `${renderReportTable(resultado.rows)}\n${(resultado.notas ?? []).map((nota) => `  ${nota}`).join('\n')}\n`,
    )
    if (!('failedFigures' in verdict)) continue
    failedFigures.push(...verdict.failedFigures)
    for (const figure of verdict.unjudged) printLine(`Sin juzgar, porque otros usaban la máquina: ${figure}`)
  }
  process.stdout.write(await writeReport(bench, startedAt, before, measures))
  if (failedFigures.length > 0) throw new FiguresError(`Por debajo de media marca:\n${failedFigures.join('\n')}`)
}

const renderBullets = (title: string, lines: readonly string[]) =>
  lines.length > 0 ? `## ${title}\n\n${lines.map((line) => `- ${line}`).join('\n')}\n\n` : ''

/**
 * Writes the dated report with its charts and, when the run has all measurements, `bench/RESULTS.md`.
 * @returns the report, with paths of charts relative to the repository
 */
async function writeReport(
  bench: Bench,
  startedAt: Date,
  loadBefore: number,
  measures: readonly { measurement: Measurement; resultado: MeasurementResult }[],
): Promise<string> {
  const { selectedKeys, rounds, seconds, guias, contra } = bench.options
  const date = startedAt.toISOString().slice(0, 16).replace(/:/g, '')
  const folder = new URL('results/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  const charts = measures.flatMap(({ resultado }) => resultado.charts ?? [])
  for (const { name, chart } of charts) writeFileSync(new URL(`${date}-${name}.svg`, folder), renderChart(chart))
  const notas = measures.flatMap(({ measurement, resultado }) =>
    (resultado.notas ?? []).map((nota) => `\`${measurement.clave}\`: ${nota}`),
  )
  const losses = measures.flatMap(({ resultado }) => resultado.losses ?? [])
  const loadLine = `Carga de la máquina: ${formatNumber(loadBefore)} antes, ${formatNumber(loadavg()[0] ?? 0)} después.`
  const noiseWarning =
    loadBefore > MIN_QUIET_SHARE ? ` **Ruidosa**: antes de empezar debe ser menor que ${MIN_QUIET_SHARE}.` : ''
  const place = await bench.withDatabase(({ db }) => readConditions(db))
  const report = (chartFolder: string) => `# Rendimiento, ${startedAt.toISOString().slice(0, 10)}

Medianas de ${rounds} rondas intercaladas de ${seconds} s por celda (entre paréntesis, la menor y la mayor); la razón es la mediana
de las razones de cada ronda. Tabla grande: ${miles(guias)} guías. Solo las razones se comparan entre máquinas.

${renderReportTable(measures.flatMap(({ resultado }) => resultado.rows))}
${charts.map(({ name, chart }) => `\n![${chart.titulo}](${chartFolder}${date}-${name}.svg)\n`).join('')}
${contra === undefined ? '' : renderBullets('Pérdidas más allá del ruido', losses.length > 0 ? losses : ['Ninguna.'])}${renderBullets('Detalles', notas)}${renderBullets('Condiciones', [loadLine + noiseWarning, ...place])}`
  writeFileSync(new URL(`${date}.md`, folder), report(''))
  if (selectedKeys.length === 0 && contra === undefined)
    writeFileSync(new URL('RESULTS.md', import.meta.url), report('results/'))
  return report('bench/results/')
}

/** Error of a short run (`--corto`) in which a figure stays below half of its mark. */
class FiguresError extends Error {}

let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, async () => {
    isInterrupted = true
    await cleanUpAll()
    process.exit(130)
  })
}

try {
  const medidas = MEASUREMENTS.map(({ clave }) => clave)
  const options = readOptions(process.argv.slice(2), { medidas, ofComparison: CASES_OF_COMPARISON })
  if (options) await runBench(options)
  else process.stdout.write(helpText(MEASUREMENTS, CASES_OF_COMPARISON))
  await cleanUpAll()
} catch (error) {
  // An interruption causes errors of its own; the signal handler ends the process.
  if (!isInterrupted) {
    const isExpected = error instanceof OptionsError || error instanceof FiguresError
    printLine(isExpected ? error.message : error instanceof Error ? `${error.stack}` : String(error))
    await cleanUpAll()
    process.exit(1)
  }
}
