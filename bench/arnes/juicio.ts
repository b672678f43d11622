import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Banco } from './entorno.ts'
import type { FilaDeInforme, Medida, ResultadoDeMedida } from './informe.ts'
import { formatearNumero } from './numero.ts'

/**
 * Minimum share of the cores for a decisive attempt. Below it other programs use the machine, and figures are not
 * reliable.
 */
const TRANQUILA = 0.9

/**
 * Maximum attempts at a measurement that misses its floor (INTENTOS). A measurement fails after DECISIVOS attempts
 * below its floor on a machine that is quiet before and after the attempt.
 */
const INTENTOS = 5
const DECISIVOS = 2

/**
 * Lists, in Spanish, the figures that miss their floor in every round, because noise affects only some rounds. The
 * floor is half of the mark, or twice the mark if lower is better.
 */
export const desplomes = (filas: readonly FilaDeInforme[]): string[] =>
  filas.flatMap(({ medida, referencia, programa, razon, marca }) => {
    const juzgada = marca?.absoluta ? programa : razon
    if (!marca || !juzgada) return []
    const suelo = marca.sentido === '≥' ? marca.valor / 2 : marca.valor * 2
    const cayo = marca.sentido === '≥' ? juzgada.max < suelo : juzgada.min > suelo
    const nombre = marca.absoluta ? medida : `${medida} / ${referencia?.nombre}`
    const cifra = formatearNumero(juzgada.mediana)
    return cayo ? [`${nombre}: ${cifra}, cuando el suelo es ${marca.sentido} ${formatearNumero(suelo)}`] : []
  })

/** Result of one attempt: the figures below their floor, and if only this run used the machine. */
export interface Intento {
  caidos: readonly string[]
  tranquilo: boolean
}

/**
 * Decides which figures fail a short run: those below their floor in every attempt. Noise must not fail a run, so one
 * good attempt clears a measurement, because slow code is slow in every attempt.
 * @returns the failing figures; undefined while more attempts are needed
 */
export function juzgar(intentos: readonly Intento[]): readonly string[] | undefined {
  if (intentos.some(({ caidos }) => caidos.length === 0)) return []
  const decisivos = intentos.filter(({ tranquilo }) => tranquilo)
  return decisivos.length >= DECISIVOS ? decisivos.at(-1)!.caidos : undefined
}

/**
 * Repeats a measurement until {@link juzgar} decides, at most {@link INTENTOS} times.
 * @returns `sinJuzgar`: figures below their floor, without a verdict because the machine was too seldom quiet
 */
export async function medirConJuicio(
  medida: Medida,
  banco: Banco,
): Promise<{ resultado: ResultadoDeMedida; caidos: readonly string[]; sinJuzgar: readonly string[] }> {
  const intentos: Intento[] = []
  for (;;) {
    const antes = await parteLibre()
    const resultado = await medida.medir(banco)
    const tranquilo = Math.min(antes, await parteLibre()) >= TRANQUILA
    const ultimo = { caidos: desplomes(resultado.filas), tranquilo }
    intentos.push(ultimo)
    const caidos = juzgar(intentos)
    if (caidos || intentos.length === INTENTOS)
      return { resultado, caidos: caidos ?? [], sinJuzgar: caidos ? [] : ultimo.caidos }
  }
}

const GIRO_MS = 300
const GIRAR = `
  const { parentPort } = require('node:worker_threads')
  const antes = process.threadCpuUsage()
  const inicio = performance.now()
  while (performance.now() - inicio < ${GIRO_MS});
  const { user, system } = process.threadCpuUsage(antes)
  parentPort.postMessage((user + system) / 1000 / (performance.now() - inicio))`

/** Returns the smallest share of a core, 0 to 1, that a busy thread gets while one such thread runs per core. */
async function parteLibre(): Promise<number> {
  const hilos = Array.from({ length: availableParallelism() }, () => new Worker(GIRAR, { eval: true }))
  const partes = await Promise.all(
    hilos.map((hilo) => new Promise<number>((resolve, reject) => hilo.once('message', resolve).once('error', reject))),
  )
  return Math.min(...partes)
}
