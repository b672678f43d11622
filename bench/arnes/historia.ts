import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { RUTA_RAIZ } from './entorno.ts'
import type { FilaDeInforme, Marca } from './informe.ts'
import { formatearNumero } from './numero.ts'
import type { Serie } from './rondas.ts'
import type { Grafica } from './svg.ts'

/** Figure of a run that has a mark: a ratio, or an absolute figure if the measurement has no reference. */
export interface Cifra extends Serie {
  sentido: Marca['sentido']
  marca: number
}

/** One run, as stored in `bench/historia.jsonl`, one line of JSON per run. */
export interface RegistroDeCorrida {
  fecha: string
  commit: string
  maquina: string
  /** Load average of the last minute, before and after the run. */
  carga: { antes: number; despues: number }
  rondas: number
  /** Figures by name: the measurement, with its reference for a ratio. */
  cifras: Record<string, Cifra>
}

/** Load average before a run above which the report marks the run as noisy. */
const TRANQUILA = 0.5

/** File of the history, one JSON object per line. */
export const ARCHIVO = new URL('bench/historia.jsonl', `file://${RUTA_RAIZ}`)

/** Returns the load average of the last minute, rounded to hundredths. */
export const carga = (): number => Math.round((loadavg()[0] ?? 0) * 100) / 100

/** Describes the load of the machine in Spanish, and marks a noisy run. */
export function presentarCarga({ antes, despues }: RegistroDeCorrida['carga']): string {
  const ruido = antes > TRANQUILA ? ` **Ruidosa**: antes de empezar debe ser menor que ${TRANQUILA}.` : ''
  return `Carga de la máquina: ${antes} antes, ${despues} después.${ruido}`
}

const git = (...args: readonly string[]) =>
  spawnSync('git', ['-C', RUTA_RAIZ, ...args], { encoding: 'utf8' }).stdout?.trim()

/** Returns the record of a run for the history. */
export function corridaDe(
  inicio: Date,
  antes: number,
  rondas: number,
  filas: readonly FilaDeInforme[],
): RegistroDeCorrida {
  return {
    fecha: inicio.toISOString(),
    commit: git('describe', '--always', '--dirty') || 'desconocido',
    maquina: `${cpus()[0]?.model ?? 'CPU desconocida'}, ${cpus().length} núcleos`,
    carga: { antes, despues: carga() },
    rondas,
    cifras: cifrasDe(filas),
  }
}

/** Returns the figures that have a mark, by name. */
export const cifrasDe = (filas: readonly FilaDeInforme[]): RegistroDeCorrida['cifras'] =>
  Object.fromEntries(filas.flatMap(cifraDe))

function cifraDe({ medida, referencia, programa, razon, marca }: FilaDeInforme): [string, Cifra][] {
  const juzgada = marca?.absoluta ? programa : razon
  if (!marca || !juzgada || Number.isNaN(juzgada.mediana)) return []
  const nombre = marca.absoluta ? medida : `${medida} / ${referencia?.nombre}`
  return [[nombre, { ...juzgada, sentido: marca.sentido, marca: marca.valor }]]
}

/** Reads all runs of the history, oldest first. */
export const leerHistoria = (): RegistroDeCorrida[] =>
  existsSync(ARCHIVO)
    ? readFileSync(ARCHIVO, 'utf8')
        .split('\n')
        .filter((linea) => linea !== '')
        .map((linea) => JSON.parse(linea) as RegistroDeCorrida)
    : []

/** Appends a run to the history. */
export const agregarCorrida = (registro: RegistroDeCorrida): void =>
  appendFileSync(ARCHIVO, `${JSON.stringify(registro)}\n`)

/** Returns a number that is larger for a better figure, in either direction of its mark. */
const bondad = ({ sentido, mediana }: Cifra) => (sentido === '≥' ? mediana : -mediana)

/**
 * Lists, in Spanish, the figures that got worse than in the last run on the same machine that has them. A figure counts
 * as worse only if the ranges of both runs' rounds do not overlap.
 */
export function caidas(ahora: RegistroDeCorrida, historia: readonly RegistroDeCorrida[]): string[] {
  return Object.entries(ahora.cifras).flatMap(([nombre, cifra]) => {
    const antes = historia.findLast(({ maquina, cifras }) => maquina === ahora.maquina && nombre in cifras)
    const vieja = antes?.cifras[nombre]
    const aparte = vieja && (cifra.max < vieja.min || cifra.min > vieja.max)
    if (!aparte || bondad(cifra) > bondad(vieja)) return []
    const rango = ({ mediana, min, max }: Serie) =>
      `${formatearNumero(mediana)} (${formatearNumero(min)}–${formatearNumero(max)})`
    return [`${nombre}: ${rango(vieja)} en ${antes?.commit}, ${rango(cifra)} ahora`]
  })
}

/**
 * Lists, in Spanish, the figures that miss their floor in every round, because noise affects only some rounds. The
 * floor is half of the mark, or twice the mark if lower is better.
 */
export const desplomes = (cifras: RegistroDeCorrida['cifras']): string[] =>
  Object.entries(cifras).flatMap(([nombre, { sentido, mediana, min, max, marca }]) => {
    const suelo = sentido === '≥' ? marca / 2 : marca * 2
    const cayo = sentido === '≥' ? max < suelo : min > suelo
    return cayo
      ? [`${nombre}: ${formatearNumero(mediana)}, cuando el suelo es ${sentido} ${formatearNumero(suelo)}`]
      : []
  })

/** Returns charts of each figure relative to its mark, by run. A value of 1 or more meets the mark. */
export function dibujarHistoria(historia: readonly RegistroDeCorrida[]): Grafica[] {
  const nombres = [...new Set(historia.flatMap(({ cifras }) => Object.keys(cifras)))]
  const relativa = ({ sentido, marca, mediana, min, max }: Cifra): Serie =>
    sentido === '≥'
      ? { mediana: mediana / marca, min: min / marca, max: max / marca }
      : { mediana: marca / mediana, min: marca / max, max: marca / min }
  const lineas = nombres.map((nombre) => ({
    nombre,
    puntos: historia.flatMap(({ cifras }, i) => {
      const cifra = cifras[nombre]
      return cifra ? [{ x: i + 1, y: relativa(cifra) }] : []
    }),
  }))
  return Array.from({ length: Math.ceil(lineas.length / POR_GRAFICA) }, (_, i) => ({
    titulo: 'Cada cifra entre su marca, corrida tras corrida (1: la cumple)',
    ejeX: 'corrida',
    ejeY: 'veces su marca',
    lineas: lineas.slice(i * POR_GRAFICA, (i + 1) * POR_GRAFICA),
  }))
}

/** Lines per chart, few enough to tell apart. */
const POR_GRAFICA = 5
