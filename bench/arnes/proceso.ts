import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as dormir } from 'node:timers/promises'

// What a process costs, from Linux's /proc; elsewhere these are undefined and their rows are left out.

const TICS_POR_SEGUNDO = 100

function estadistica(cual: number | string): string[] | undefined {
  try {
    // Fields from the third on: the second, the program's name, may hold spaces and parentheses.
    return readFileSync(`/proc/${cual}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
  } catch {
    return undefined
  }
}

/** User and system time in seconds, with that of children that ended. */
export function cpuDe(pid: number): number | undefined {
  const campos = estadistica(pid)
  return campos && [11, 12, 13, 14].reduce((suma, i) => suma + Number(campos[i]), 0) / TICS_POR_SEGUNDO
}

/** Milliseconds between two looks at a process that is coming to rest, and how many quiet looks in a row are rest. */
const VISTAZO = 200
const VISTAZOS_QUIETOS = 3
/** Longest wait for rest, in milliseconds. A process that found work at its start is measured while it works. */
const PLAZO_DE_REPOSO = 15_000

/**
 * Waits until a process uses almost no CPU: at most one clock tick (10 ms) in each of {@link VISTAZOS_QUIETOS} looks. The
 * service checks its contract for a second or two after it is ready, at the cost of whatever is measured meanwhile.
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

/** User and system time in seconds of a process's main thread, which is all of Node's JavaScript. */
export function cpuDelHilo(pid: number): number | undefined {
  const campos = estadistica(`${pid}/task/${pid}`)
  return campos && (Number(campos[11]) + Number(campos[12])) / TICS_POR_SEGUNDO
}

/** What {@link cpuDe} tells, of a process and those that it started: PostgreSQL and its backends. */
export function cpuConHijos(pid: number): number | undefined {
  const propia = cpuDe(pid)
  if (propia === undefined) return undefined
  const hijos = readdirSync('/proc').filter(
    (nombre) => /^\d+$/.test(nombre) && estadistica(Number(nombre))?.[1] === `${pid}`,
  )
  return hijos.reduce((suma, hijo) => suma + (cpuDe(Number(hijo)) ?? 0), propia)
}

/** Resident memory in MB. */
export function memoriaDe(pid: number): number | undefined {
  try {
    const kb = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kb === undefined ? undefined : Number(kb) / 1024
  } catch {
    return undefined
  }
}
