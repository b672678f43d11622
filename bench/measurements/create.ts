import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { buildCreateScript, buildGuiaJson } from '../harness/data.ts'
import type { Bench, BenchComercio, BenchInstallation, RunningProgram } from '../harness/environment.ts'
import { type LoadParameters, type LoadRequest, type LoadResult as MeasuredLoad, runLoad } from '../harness/load.ts'
import { formatNumber } from '../harness/number.ts'
import { runPgbench } from '../harness/pgbench.ts'
import type { Measurement, ReportRow, Target } from '../harness/report.ts'
import { interleave, summarize, summarizeRatios } from '../harness/rounds.ts'
import { cpuOf, cpuSince } from '../harness/sides.ts'

/**
 * Returns a load that creates guides. Connection n uses the key of merchant n, modulo the number of merchants.
 * @param alter returns the body and headers of the request that creates a guide
 */
export const buildCreateLoad = (
  url: string,
  comercios: readonly BenchComercio[],
  connections: number,
  segundos: number,
  alter: (guia: string) => Pick<LoadRequest, 'body' | 'headers'> = (body) => ({ body }),
): LoadParameters => ({
  url,
  connections,
  segundos,
  expectedStatus: 201,
  next: (connection) => ({
    method: 'POST',
    path: '/api/v1/guias',
    llave: comercios[connection % comercios.length]!.llave,
    ...alter(buildGuiaJson()),
  }),
})

/** Returns a function that runs a load and returns its rate. Records latencies, and the CPU of each process. */
export function createMeter({ postgresPid }: Bench, service: RunningProgram, load: LoadParameters) {
  const side = { processes: { servicio: [service.pid], PostgreSQL: [postgresPid] } }
  /** Latencies, and microseconds of CPU per request. */
  const loads: (MeasuredLoad & { cpu: Readonly<Record<keyof typeof side.processes, number>> })[] = []
  return {
    loads,
    async measure(): Promise<number> {
      const before = cpuOf(side)
      const loadResult = await runLoad(load)
      loads.push({ ...loadResult, cpu: cpuSince(side, before, loadResult.total) })
      return loadResult.perSecond
    },
    nota(name: string): string {
      const formatMedian = (readFigure: (item: (typeof loads)[number]) => number) =>
        formatNumber(summarize(loads.map(readFigure)).median)
      const cpu = (['servicio', 'PostgreSQL'] as const).map(
        (part) => `${part} ${formatMedian((item) => item.cpu[part])} µs`,
      )
      return `${name}: p50 ${formatMedian(({ p50 }) => p50)} ms, p99 ${formatMedian(({ p99 }) => p99)} ms; CPU por solicitud: ${cpu.join(', ')}`
    },
  }
}

/**
 * Warms a program up, so that both sides run compiled code and prepared statements. Then runs ANALYZE, as autovacuum
 * does within a minute. Without statistics, PostgreSQL may check foreign keys through an index that scans all guides of
 * the merchant.
 */
export async function warmUp(bench: Bench, { url }: BenchInstallation, load: LoadParameters): Promise<void> {
  await runLoad({ ...load, segundos: 2 * bench.options.seconds })
  await analyzeDatabase(url)
}

/** Runs ANALYZE on a separate connection, because the service's connections have a statement timeout. */
export async function analyzeDatabase(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('analyze').finally(() => client.end())
}

/** Returns the report row of a comparison, or of the service alone if the reference has no values. */
export function buildReportRow(
  measurement: string,
  unit: string,
  nombre: string,
  values: { program: number[]; reference: number[] },
  target?: Target,
): ReportRow {
  const { program, reference } = values
  return {
    measurement,
    unit,
    program: summarize(program),
    ...(reference.length > 0
      ? { reference: { name: nombre, series: summarize(reference) }, ratio: summarizeRatios(program, reference) }
      : {}),
    ...(target ? { target } : {}),
  }
}

type StartReference = (
  bench: Bench,
  base: BenchInstallation,
  comercios: readonly BenchComercio[],
  connections: number,
) => Promise<{ measure: (() => Promise<number>) | undefined; nota?: (name: string) => string }>

const pgbench: StartReference = async ({ options, pgbench: isAvailable, folder }, { url }, comercios, clients) => {
  const pgbenchRun = { url, folder, script: buildCreateScript(comercios), clients, segundos: options.seconds }
  return { measure: isAvailable ? () => runPgbench(pgbenchRun) : undefined }
}

const fastify: StartReference = async (bench, base, comercios, connections) => {
  const par = await base.program('fastify.ts')
  const load = buildCreateLoad(par.url, comercios, connections, bench.options.seconds)
  await warmUp(bench, base, load)
  return createMeter(bench, par, load)
}

const buildCreationMeasurement = (
  clave: string,
  [connections, comercioCount]: readonly [number, number],
  name: string,
  readFigure: StartReference,
  valor: number,
): Measurement => {
  const [item, comercioWord] = [
    connections === 1 ? 'conexión' : 'conexiones',
    comercioCount === 1 ? 'comercio' : 'comercios',
  ]
  const measurement = `crear, ${connections} ${item}, ${comercioCount} ${comercioWord}`
  return {
    clave,
    descripcion: `${measurement}, contra ${name}`,
    measure: (bench) =>
      bench.withDatabase(async (base) => {
        const comercios = await base.createComercios(comercioCount)
        const reference = await readFigure(bench, base, comercios, connections)
        const service = await base.service()
        const load = buildCreateLoad(service.url, comercios, connections, bench.options.seconds)
        await warmUp(bench, base, load)
        const program = createMeter(bench, service, load)
        const values = await interleave(bench.options.rounds, {
          program: program.measure,
          reference: reference.measure,
        })
        return {
          rows: [buildReportRow(measurement, 'guías/s', name, values, { comparison: '≥', value: valor })],
          notas: [program.nota('servicio'), ...(reference.nota ? [reference.nota(name)] : [])],
        }
      }),
  }
}

/** Compares creations that have an idempotency key with creations that have neither a key nor a reference. */
const keyMeasurement: Measurement = {
  clave: 'clave32',
  descripcion: 'crear con Idempotency-Key, 32 conexiones, contra crear sin ella',
  measure: (bench) =>
    bench.withDatabase(async (base) => {
      const comercios = await base.createComercios(1)
      const service = await base.service()
      const meter = async (headers: () => Record<string, string>) => {
        const load = buildCreateLoad(service.url, comercios, 32, bench.options.seconds, (guia) => ({
          body: guia.replace(/"external_ref":"[^"]*",/, ''),
          headers: headers(),
        }))
        await warmUp(bench, base, load)
        return createMeter(bench, service, load)
      }
      const withKey = await meter(() => ({ 'Idempotency-Key': randomUUID() }))
      const without = await meter(() => ({}))
      const values = await interleave(bench.options.rounds, { program: withKey.measure, reference: without.measure })
      return {
        rows: [
          buildReportRow('crear con Idempotency-Key, 32 conexiones', 'guías/s', 'sin clave ni referencia', values),
        ],
        notas: [withKey.nota('con clave'), without.nota('sin clave')],
      }
    }),
}

export const creationMeasurements: Measurement[] = [
  buildCreationMeasurement('crear32', [32, 1], 'pgbench', pgbench, 1.3),
  buildCreationMeasurement('comercios32', [32, 32], 'pgbench', pgbench, 1.1),
  buildCreationMeasurement('fastify32', [32, 1], 'Fastify + pg', fastify, 1.8),
  buildCreationMeasurement('fastify1', [1, 1], 'Fastify + pg', fastify, 0.9),
  keyMeasurement,
]
