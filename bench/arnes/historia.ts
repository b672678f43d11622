import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { RAIZ } from './entorno.ts'
import type { Fila, Marca } from './informe.ts'
import { numero } from './numero.ts'
import type { Serie } from './rondas.ts'
import type { Grafica } from './svg.ts'

/** One figure of a run that a mark judges: a ratio, or the figure itself where there is no reference. */
export interface Cifra extends Serie {
  sentido: Marca['sentido']
  marca: number
}

/** One run, as `bench/historia.jsonl` keeps it: a line of JSON. */
export interface Registro {
  fecha: string
  commit: string
  maquina: string
  /** The load average of the last minute, before and after the run. */
  carga: { antes: number; despues: number }
  rondas: number
  /** By measurement and reference. */
  cifras: Record<string, Cifra>
}

/** The load average beyond which a machine isn't quiet, before a run. */
const TRANQUILA = 0.5

export const ARCHIVO = new URL('bench/historia.jsonl', `file://${RAIZ}`)

/** The load average of the last minute. */
export const carga = (): number => Math.round((loadavg()[0] ?? 0) * 100) / 100

/** In Spanish, how quiet the machine was; a noisy run is marked as such. */
export function presentarCarga({ antes, despues }: Registro['carga']): string {
  const ruido = antes > TRANQUILA ? ` **Ruidosa**: antes de empezar debe ser menor que ${TRANQUILA}.` : ''
  return `Carga de la máquina: ${antes} antes, ${despues} después.${ruido}`
}

const git = (...args: readonly string[]) => spawnSync('git', ['-C', RAIZ, ...args], { encoding: 'utf8' }).stdout?.trim()

/** What a run leaves in the history. */
export function registrar(inicio: Date, antes: number, rondas: number, filas: readonly Fila[]): Registro {
  return {
    fecha: inicio.toISOString(),
    commit: git('describe', '--always', '--dirty') || 'desconocido',
    maquina: `${cpus()[0]?.model ?? 'CPU desconocida'}, ${cpus().length} núcleos`,
    carga: { antes, despues: carga() },
    rondas,
    cifras: cifrasDe(filas),
  }
}

/** The figures of measurements that a mark judges. */
export const cifrasDe = (filas: readonly Fila[]): Registro['cifras'] => Object.fromEntries(filas.flatMap(cifraDe))

function cifraDe({ medida, referencia, programa, razon, marca }: Fila): [string, Cifra][] {
  const juzgada = marca?.absoluta ? programa : razon
  if (!marca || !juzgada || Number.isNaN(juzgada.mediana)) return []
  const nombre = marca.absoluta ? medida : `${medida} / ${referencia?.nombre}`
  return [[nombre, { ...juzgada, sentido: marca.sentido, marca: marca.valor }]]
}

export const leer = (): Registro[] =>
  existsSync(ARCHIVO)
    ? readFileSync(ARCHIVO, 'utf8')
        .split('\n')
        .filter((linea) => linea !== '')
        .map((linea) => JSON.parse(linea) as Registro)
    : []

export const anotar = (registro: Registro): void => appendFileSync(ARCHIVO, `${JSON.stringify(registro)}\n`)

/** How good a figure is, the more the better, whichever way its mark looks. */
const bondad = ({ sentido, mediana }: Cifra) => (sentido === '≥' ? mediana : -mediana)

/**
 * In Spanish, the figures that fell against the last run that has them, on the same machine, by more than the noise of both
 * runs' own rounds: their ranges don't even touch.
 */
export function caidas(ahora: Registro, historia: readonly Registro[]): string[] {
  return Object.entries(ahora.cifras).flatMap(([nombre, cifra]) => {
    const antes = historia.findLast(({ maquina, cifras }) => maquina === ahora.maquina && nombre in cifras)
    const vieja = antes?.cifras[nombre]
    const aparte = vieja && (cifra.max < vieja.min || cifra.min > vieja.max)
    if (!aparte || bondad(cifra) > bondad(vieja)) return []
    const rango = ({ mediana, min, max }: Serie) => `${numero(mediana)} (${numero(min)}–${numero(max)})`
    return [`${nombre}: ${rango(vieja)} en ${antes?.commit}, ${rango(cifra)} ahora`]
  })
}

/** Figures that miss their floor, half of their mark or twice where less is better, in each of their rounds: noise strikes some. */
export const desplomes = (cifras: Registro['cifras']): string[] =>
  Object.entries(cifras).flatMap(([nombre, { sentido, mediana, min, max, marca }]) => {
    const suelo = sentido === '≥' ? marca / 2 : marca * 2
    const cayo = sentido === '≥' ? max < suelo : min > suelo
    return cayo ? [`${nombre}: ${numero(mediana)}, cuando el suelo es ${sentido} ${numero(suelo)}`] : []
  })

/** How each figure stood to its mark, run after run; above 1 it meets it. */
export function dibujarHistoria(historia: readonly Registro[]): Grafica[] {
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

/** Lines that one chart can show apart. */
const POR_GRAFICA = 5
