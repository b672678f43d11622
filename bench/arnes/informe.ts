import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import type { Db } from '../../server/data/db.ts'
import { type Banco, FLAGS, RUTA_RAIZ } from './entorno.ts'
import { formatearNumero } from './numero.ts'
import type { Serie } from './rondas.ts'
import type { Grafica } from './svg.ts'

/** Bound that a measurement must meet: on its ratio to the reference or, if `absoluta`, on the figure itself. */
export interface Marca {
  sentido: '≥' | '≤'
  valor: number
  absoluta?: boolean
  /** Excess over the reference, in the row's unit, that also meets the mark. */
  holgura?: number
}

/** Row of the report: one figure of the service, with its reference, ratio and mark if it has them. */
export interface FilaDeInforme {
  medida: string
  unidad: string
  programa: Serie
  referencia?: { nombre: string; serie: Serie }
  razon?: Serie
  marca?: Marca
}

/** Rows, notes and charts of one measurement. */
export interface ResultadoDeMedida {
  filas: FilaDeInforme[]
  /** Notes in Spanish that explain the figures. */
  notas?: string[]
  graficas?: { nombre: string; grafica: Grafica }[]
  /** Losses beyond noise, in Spanish, of a comparison with another commit. */
  perdidas?: string[]
}

/** Measurement that `--solo` selects by its `clave`. */
export interface Medida {
  clave: string
  descripcion: string
  /** Returns true if the measurement runs only when `--solo` names it. */
  aparte?: (opciones: Banco['opciones']) => boolean
  medir: (banco: Banco) => Promise<ResultadoDeMedida>
}

const serie = ({ mediana, min, max }: Serie) =>
  `**${formatearNumero(mediana)}** (${formatearNumero(min)}–${formatearNumero(max)})`

/** Tells if a row meets its mark; undefined if it has no mark or no ratio. */
export function cumple({ programa, referencia, razon, marca }: FilaDeInforme): boolean | undefined {
  const juzgada = marca?.absoluta ? programa : razon
  if (!marca || !juzgada) return undefined
  if (marca.holgura && referencia && programa.mediana <= referencia.serie.mediana + marca.holgura) return true
  return marca.sentido === '≥' ? juzgada.mediana >= marca.valor : juzgada.mediana <= marca.valor
}

const SENAL = new Map([
  [true, 'sí'],
  [false, '**no**'],
])

const marcaEnTexto = ({ unidad, marca }: FilaDeInforme) =>
  marca
    ? `${marca.sentido} ${formatearNumero(marca.valor)} ${marca.absoluta ? unidad : '×'}${marca.holgura ? ` o + ${marca.holgura} ${unidad}` : ''}`
    : ''

/** Returns the rows as a Markdown table in Spanish. */
export function tablaDeInforme(filas: readonly FilaDeInforme[]): string {
  const lineas = filas.map((fila) =>
    [
      fila.medida,
      `${serie(fila.programa)} ${fila.unidad}`,
      fila.referencia ? `${fila.referencia.nombre}: ${serie(fila.referencia.serie)} ${fila.unidad}` : '',
      fila.razon ? serie(fila.razon) : '',
      marcaEnTexto(fila),
      SENAL.get(cumple(fila) as boolean) ?? '',
    ].join(' | '),
  )
  return [
    '| medida | servicio | referencia | razón | marca | cumple |',
    '|---|---|---|---|---|---|',
    ...lineas.map((linea) => `| ${linea} |`),
  ].join('\n')
}

const AJUSTES =
  'server_version,fsync,synchronous_commit,full_page_writes,wal_sync_method,shared_buffers,max_connections,jit'.split(
    ',',
  )

/** Lists, in Spanish, the conditions of the run: machine, versions, settings of PostgreSQL and commit. */
export async function condiciones(db: Db): Promise<string[]> {
  const { rows } = await db.pool.query<{ name: string; valor: string }>(
    'select name, current_setting(name) as valor from pg_settings where name = any($1) order by array_position($1, name)',
    [AJUSTES],
  )
  const leer = (paquete: string) =>
    JSON.parse(readFileSync(`${RUTA_RAIZ}${paquete}`, 'utf8')) as Record<string, Record<string, string>>
  const versiones = { ...leer('package.json').dependencies, ...leer('bench/package.json').devDependencies }
  const de = (nombre: string) => `${nombre} ${versiones[nombre]}`
  const pgbench = spawnSync('pgbench', ['--version'], { encoding: 'utf8' }).stdout?.trim()
  const commit = spawnSync('git', ['-C', RUTA_RAIZ, 'describe', '--always', '--dirty'], {
    encoding: 'utf8',
  }).stdout?.trim()
  return [
    `Máquina: ${cpus()[0]?.model ?? 'CPU desconocida'}, ${cpus().length} núcleos, ${Math.round(totalmem() / 2 ** 30)} GB, ${type()} ${release()}`,
    `Node ${process.version} (${FLAGS.join(' ')}); ${['express', 'express-openapi-validator', 'pg', 'pg-boss', 'undici', 'fastify', 'graphile-worker'].map(de).join(', ')}; ${pgbench || 'sin pgbench'}`,
    `PostgreSQL: ${rows.map(({ name, valor }) => `${name} ${valor}`).join(', ')}`,
    'El generador de carga, el servicio y PostgreSQL comparten los núcleos.',
    ...(commit ? [`Código: ${commit}`] : []),
  ]
}
