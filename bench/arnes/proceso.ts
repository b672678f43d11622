import { readdirSync, readFileSync } from 'node:fs'

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
