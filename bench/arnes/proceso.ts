import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as dormir } from 'node:timers/promises'

// Costs of a process, from Linux's `/proc`. On other systems the functions return undefined, and the report has no such
// rows.

const TICS_POR_SEGUNDO = 100

function estadistica(cual: number | string): string[] | undefined {
  try {
    // Skips the first two fields, because the second (the program's name) may contain spaces and parentheses.
    return readFileSync(`/proc/${cual}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
  } catch {
    return undefined
  }
}

/** Returns the user and system CPU time of a process in seconds, including its children that have exited. */
export function cpuDe(pid: number): number | undefined {
  const campos = estadistica(pid)
  return campos && [11, 12, 13, 14].reduce((suma, i) => suma + Number(campos[i]), 0) / TICS_POR_SEGUNDO
}

/**
 * Milliseconds between two samples of a process that becomes idle (VISTAZO), and consecutive quiet samples that mean
 * idle (VISTAZOS_QUIETOS).
 */
const VISTAZO = 200
const VISTAZOS_QUIETOS = 3
/**
 * Maximum wait for an idle process, in milliseconds. A process that found work at its start is measured while it works.
 */
const PLAZO_DE_REPOSO = 15_000

/**
 * Waits until a process is idle: at most one clock tick (10 ms) of CPU in each of {@link VISTAZOS_QUIETOS} samples. The
 * service checks its contract for a second or two after it is ready, which would distort a measurement.
 */
export async function esperarReposo(pid: number): Promise<void> {
  const fin = performance.now() + PLAZO_DE_REPOSO
  for (let quietos = 0, antes = cpuDe(pid); antes !== undefined && performance.now() < fin; ) {
    await dormir(VISTAZO)
    const ahora = cpuDe(pid)
    if (ahora === undefined) return
    quietos = ahora - antes < 1.5 / TICS_POR_SEGUNDO ? quietos + 1 : 0
    if (quietos === VISTAZOS_QUIETOS) return
    antes = ahora
  }
}

/** Returns {@link cpuDe} summed over a process and its children, for example PostgreSQL and its backends. */
export function cpuConHijos(pid: number): number | undefined {
  const propia = cpuDe(pid)
  if (propia === undefined) return undefined
  const hijos = readdirSync('/proc').filter(
    (nombre) => /^\d+$/.test(nombre) && estadistica(Number(nombre))?.[1] === `${pid}`,
  )
  return hijos.reduce((suma, hijo) => suma + (cpuDe(Number(hijo)) ?? 0), propia)
}

/** Returns the resident memory of a process in MB. */
export function memoriaDe(pid: number): number | undefined {
  try {
    const kb = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kb === undefined ? undefined : Number(kb) / 1024
  } catch {
    return undefined
  }
}
