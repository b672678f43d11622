import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Medida } from '../medidas/medida.ts'
import type { Banco } from './entorno.ts'
import { cifrasDe, desplomes } from './historia.ts'
import type { Resultado } from './informe.ts'

/** Below this share of the cores others are at work, and no figure is this code's alone. */
const TRANQUILA = 0.9

/** Times that what misses its floor is measured again, and in how many of them, quiet before and after, it must miss it. */
const INTENTOS = 5
const DECISIVOS = 2

/** What one measurement of a short run found below its floor, and whether the machine was this run's alone. */
export interface Intento {
  caidos: readonly string[]
  tranquilo: boolean
}

/**
 * What a short run fails by: what a measurement found below its floor each time that it had the machine for itself. Noise is
 * no reason, and one good attempt is enough: what is slow by its own fault is slow every time.
 * @returns undefined while that isn't known yet
 */
export function juzgar(intentos: readonly Intento[]): readonly string[] | undefined {
  if (intentos.some(({ caidos }) => caidos.length === 0)) return []
  const decisivos = intentos.filter(({ tranquilo }) => tranquilo)
  return decisivos.length >= DECISIVOS ? decisivos.at(-1)!.caidos : undefined
}

/** Measures until it is known whether it is below its floor; a machine that is never quiet decides nothing. */
export async function medirConJuicio(
  medida: Medida,
  banco: Banco,
): Promise<{ resultado: Resultado; caidos: readonly string[]; sinJuzgar: readonly string[] }> {
  const intentos: Intento[] = []
  for (;;) {
    const antes = await parteLibre()
    const resultado = await medida.medir(banco)
    const tranquilo = Math.min(antes, await parteLibre()) >= TRANQUILA
    const ultimo = { caidos: desplomes(cifrasDe(resultado.filas)), tranquilo }
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

/** The share of all cores that this process gets at the moment, 0 to 1: the least that one thread per core gets of its own. */
async function parteLibre(): Promise<number> {
  const hilos = Array.from({ length: availableParallelism() }, () => new Worker(GIRAR, { eval: true }))
  const partes = await Promise.all(
    hilos.map((hilo) => new Promise<number>((resolve, reject) => hilo.once('message', resolve).once('error', reject))),
  )
  return Math.min(...partes)
}
