import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import type { Db } from '../../server/data/db.ts'
import { type Bench, FLAGS, ROOT_PATH } from './environment.ts'
import { formatNumber } from './number.ts'
import type { Series } from './rounds.ts'
import type { Chart } from './svg.ts'

/** Bound that a measurement must meet: on its ratio to the reference or, if `isAbsolute`, on the figure itself. */
export interface Target {
  comparison: '≥' | '≤'
  value: number
  isAbsolute?: boolean
  /** Excess over the reference, in the row's unit, that also meets the mark. */
  slack?: number
}

/** Row of the report: one figure of the service, with its reference, ratio and mark if it has them. */
export interface ReportRow {
  measurement: string
  unit: string
  program: Series
  reference?: { name: string; series: Series }
  ratio?: Series
  target?: Target
}

/** Rows, notes and charts of one measurement. */
export interface MeasurementResult {
  rows: ReportRow[]
  /** Notes in Spanish that explain the figures. */
  notas?: string[]
  charts?: { name: string; chart: Chart }[]
  /**
   * Lines in Spanish, one for each case with a figure that is worse than the other commit's by more than noise. Only
   * with `--contra`.
   */
  losses?: string[]
}

/** Measurement that `--solo` selects by its `clave`. */
export interface Measurement {
  clave: string
  descripcion: string
  /** Returns true if the measurement runs only when `--solo` names it. */
  separate?: (options: Bench['options']) => boolean
  measure: (bench: Bench) => Promise<MeasurementResult>
}

const series = ({ median, min, max }: Series) =>
  `**${formatNumber(median)}** (${formatNumber(min)}–${formatNumber(max)})`

/** Tells if a row meets its mark; undefined if it has no mark or no ratio. */
export function meetsTarget({ program, reference, ratio, target }: ReportRow): boolean | undefined {
  const judgedSeries = target?.isAbsolute ? program : ratio
  if (!target || !judgedSeries) return undefined
  if (target.slack && reference && program.median <= reference.series.median + target.slack) return true
  return target.comparison === '≥' ? judgedSeries.median >= target.value : judgedSeries.median <= target.value
}

const VERDICT_SIGNS = new Map([
  [true, 'sí'],
  [false, '**no**'],
])

const formatTarget = ({ unit, target }: ReportRow) =>
  target
    ? `${target.comparison} ${formatNumber(target.value)} ${target.isAbsolute ? unit : '×'}${target.slack ? ` o + ${target.slack} ${unit}` : ''}`
    : ''

/** Returns the rows as a Markdown table in Spanish. */
export function renderReportTable(rows: readonly ReportRow[]): string {
  const lines = rows.map((row) =>
    [
      row.measurement,
      `${series(row.program)} ${row.unit}`,
      row.reference ? `${row.reference.name}: ${series(row.reference.series)} ${row.unit}` : '',
      row.ratio ? series(row.ratio) : '',
      formatTarget(row),
      VERDICT_SIGNS.get(meetsTarget(row) as boolean) ?? '',
    ].join(' | '),
  )
  return [
    '| medida | servicio | referencia | razón | marca | cumple |',
    '|---|---|---|---|---|---|',
    ...lines.map((line) => `| ${line} |`),
  ].join('\n')
}

const REPORTED_SETTINGS =
  'server_version,fsync,synchronous_commit,full_page_writes,wal_sync_method,shared_buffers,max_connections,jit'.split(
    ',',
  )

/** Lists, in Spanish, the conditions of the run: machine, versions, settings of PostgreSQL and commit. */
export async function readConditions(db: Db): Promise<string[]> {
  const { rows } = await db.pool.query<{ name: string; valor: string }>(
    'select name, current_setting(name) as valor from pg_settings where name = any($1) order by array_position($1, name)',
    [REPORTED_SETTINGS],
  )
  const read = (manifestPath: string) =>
    JSON.parse(readFileSync(`${ROOT_PATH}${manifestPath}`, 'utf8')) as Record<string, Record<string, string>>
  const versions = { ...read('package.json').dependencies, ...read('bench/package.json').devDependencies }
  const versionOf = (name: string) => `${name} ${versions[name]}`
  const pgbenchVersion = spawnSync('pgbench', ['--version'], { encoding: 'utf8' }).stdout?.trim()
  const commit = spawnSync('git', ['-C', ROOT_PATH, 'describe', '--always', '--dirty'], {
    encoding: 'utf8',
  }).stdout?.trim()
  return [
    `Máquina: ${cpus()[0]?.model ?? 'CPU desconocida'}, ${cpus().length} núcleos, ${Math.round(totalmem() / 2 ** 30)} GB, ${type()} ${release()}`,
    `Node ${process.version} (${FLAGS.join(' ')}); ${['express', 'express-openapi-validator', 'pg', 'pg-boss', 'undici', 'fastify', 'graphile-worker'].map(versionOf).join(', ')}; ${pgbenchVersion || 'sin pgbench'}`,
    `PostgreSQL: ${rows.map(({ name, valor: value }) => `${name} ${value}`).join(', ')}`,
    'El generador de carga, el servicio y PostgreSQL comparten los núcleos.',
    ...(commit ? [`Código: ${commit}`] : []),
  ]
}
